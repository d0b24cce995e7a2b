// SPDX-License-Identifier: MIT
// The servers of one store, each with its share of the partitions.
//
// Objects would be lost from sight, or have two states, if nodes spread them over other servers, or
// over the same ones in another order. So each server holds a mark, "server 2 of 3 of store S",
// which is written once and compared on every connection. The first server also lists the ids of
// all: an empty server in the place of one that was marked is noticed, too.
//
// Belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/store/detail/redis_client.h"
#include "framework/store/detail/redis_places.h"
#include "framework/store/redis_store.h"
#include "framework/wire/partition.h"
#include "net/network.h"

namespace corolane::framework::detail {

// The position of the server that holds a partition, among `server_count` servers.
constexpr std::size_t redis_server_of(RedisPlace place, std::size_t server_count) {
  return place % server_count;
}

class RedisServers final : public RedisPlaces {
 public:
  // `network` outlives it. Connects to a server at the first call to it.
  RedisServers(net::Network& network, RedisStore::Options options);
  // No call may be in progress. Suspends until its own tasks have ended.
  ~RedisServers() override;

  Result<RedisReply> call(RedisPlace place, std::span<const std::string_view> words,
                          Deadline deadline) override {
    return of(place).call(words, deadline);
  }

  // Connects to the servers of several that have not been met so far. Fails with the error of one
  // that rejects us, or that has another mark; one that is away is skipped.
  Result<void> meet(Deadline deadline) override;
  std::vector<RedisPlace> one_of_each() const override;
  const std::string& name_of(RedisPlace place) const override { return of(place).name(); }
  // "redis a:6379/0, b:6379/0".
  const std::string& name() const override { return name_; }

 private:
  struct Mark;
  using Clients = std::vector<std::unique_ptr<RedisClient>>;

  // The first one also holds what belongs to no partition.
  RedisClient& of(RedisPlace place) const {
    return *clients_[place < partition_place_count ? redis_server_of(place, clients_.size()) : 0];
  }

  Result<void> admit(std::size_t index, const RedisClient::Ask& ask, Deadline deadline);
  // Nothing when there is none.
  Result<std::optional<Mark>> read_mark(const RedisClient::Ask& ask) const;
  Result<void> compare(std::size_t index, const Mark& mark);
  // Writes the marks of a new store.
  Result<void> found(Deadline deadline);
  Result<void> check_are_unused(const Clients& clients, Deadline deadline) const;
  Result<Mark> mark(const Clients& clients, std::size_t index, const std::string& store,
                    Deadline deadline);
  std::string place_of(std::size_t index) const;

  net::Network& network_;
  const RedisStore::Options options_;
  std::string store_;  // The id in the marks of the servers that were met.
  std::string store_known_from_;
  std::vector<bool> is_met_;
  Clients clients_;
  std::string name_;
};

}  // namespace corolane::framework::detail
