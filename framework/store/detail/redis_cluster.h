// SPDX-License-Identifier: MIT
// The members of a Redis Cluster, which say by themselves who has which key.
//
// Each place is on one member. A member that is asked about another one's place names that member
// (MOVED), so the map is learned from the answers: one redirection for each place, and one more
// after the place has moved. While a place is on its way, the former member names the next one for
// a single command (ASK), and commands of several keys wait until all have arrived (TRYAGAIN). A
// place whose member cannot be reached is asked for at the others.
//
// Belongs to one scheduler's thread.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/store/detail/redis_client.h"
#include "framework/store/detail/redis_places.h"
#include "framework/store/redis_store.h"
#include "net/network.h"

namespace corolane::framework::detail {

class RedisCluster final : public RedisPlaces {
 public:
  // `network` outlives it. The endpoints are any members; the others are learned from these.
  RedisCluster(net::Network& network, RedisStore::Options options);
  // No call may be in progress. Suspends until its own tasks have ended.
  ~RedisCluster() override;

  // Fails also with unavailable when the cluster redirects a command too often.
  Result<RedisReply> call(RedisPlace place, std::span<const std::string_view> words,
                          Deadline deadline) override;
  std::vector<RedisPlace> one_of_each() const override;
  const std::string& name_of(RedisPlace place) const override;
  const std::string& name() const override { return name_; }

 private:
  RedisClient& member(const net::HostPort& endpoint);
  Result<void> check_is_member(const RedisClient::Ask& ask) const;
  RedisClient& member_for(RedisPlace place);
  RedisClient* named_in(std::string_view redirection, const RedisClient& by);

  net::Network& network_;
  const RedisStore::Options options_;
  std::string name_;
  std::map<std::string, std::unique_ptr<RedisClient>> members_;  // By "host:port".
  std::vector<RedisClient*> order_;                              // The same, as they were learned.
  std::size_t next_asked_ = 0;  // The member that is asked for an unknown place.
  std::array<RedisClient*, redis_place_count> places_{};  // Null: unknown.
};

}  // namespace corolane::framework::detail
