// SPDX-License-Identifier: MIT
// Feels whether the loops of all shards turn. The first shard keeps the lease of the whole node, so
// without this a shard that hangs would keep its partitions for as long as the process lives.
//
// Belongs to the first shard.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/task_group.h"
#include "framework/cluster/detail/membership.h"
#include "framework/node/detail/shard_set.h"

namespace corolane::framework::detail {

class ShardPulse {
 public:
  // Between two questions to a shard; each is a message, and needs no stack there.
  static constexpr Duration interval = std::chrono::milliseconds(250);

  // `shards` outlives it, and has all its threads.
  explicit ShardPulse(ShardSet& shards);
  ShardPulse(const ShardPulse&) = delete;
  ShardPulse& operator=(const ShardPulse&) = delete;

  // Asks the shards at every interval, in a task of its own. Fails without a stack.
  Result<void> start();

  // The shard that owes an answer for longest.
  ShardSilence longest_silence() const;

 private:
  struct Beat {
    // Set by the shard; shared with a question that may outlive this object.
    std::shared_ptr<std::atomic<bool>> is_answered;
    TimePoint asked_at{};
  };

  void ask();

  ShardSet& shards_;
  std::vector<Beat> beats_;  // By shard, without the first.
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
