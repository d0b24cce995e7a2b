// SPDX-License-Identifier: MIT
// Where the keys of a store are: on one Redis, on several, or in a Redis Cluster.
//
// The keys of a partition are always together, in one place; a place has a part of the partitions.
// Two keys belong to no partition; each is a place of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/store/detail/redis_protocol.h"
#include "framework/wire/partition.h"

namespace corolane::framework::detail {

// One with partitions, or one of the other two. The number of places is fixed, however many
// partitions a store has.
using RedisPlace = std::uint16_t;
inline constexpr RedisPlace partition_place_count = 1'024;
inline constexpr RedisPlace epoch_place = partition_place_count;
inline constexpr RedisPlace directory_place = partition_place_count + 1;
inline constexpr std::size_t redis_place_count = partition_place_count + 2;

constexpr RedisPlace redis_place_of(Partition partition) {
  return partition % partition_place_count;
}

// Belongs to one scheduler's thread.
class RedisPlaces {
 public:
  virtual ~RedisPlaces() = default;

  // Suspends until the server of that place has replied; the reply may be an error of the server.
  // Fails as RedisClient::call() does.
  virtual Result<RedisReply> call(RedisPlace place, std::span<const std::string_view> words,
                                  Deadline deadline) = 0;
  // Compares the servers with those of the configuration, as far as they can be reached. Suspends
  // for a second at most.
  virtual Result<void> meet(Deadline) { return {}; }
  // For each server that is known to have partitions, one of them.
  virtual std::vector<RedisPlace> one_of_each() const = 0;
  // "redis 10.0.0.5:6379/0", the server of that place.
  virtual const std::string& name_of(RedisPlace place) const = 0;
  // Names the servers of the configuration.
  virtual const std::string& name() const = 0;
};

}  // namespace corolane::framework::detail
