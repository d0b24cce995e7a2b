// SPDX-License-Identifier: MIT
// Feels whether the loops of all shards turn, and asks those that do. One task keeps the lease of
// the whole node, so without this a shard that hangs would keep its partitions for as long as the
// process lives; and a page that asks every shard would hang with it.
//
//   auto silent = pulse.ask_each([found](Shard& shard) { return found->look(shard); });
//   if (!silent) return silent.error();
//
// Belongs to the thread of the node.
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
  // A shard whose loop has not turned for so long is asked nothing further, and not awaited.
  static constexpr Duration answer_time_max = std::chrono::milliseconds(500);

  // `shards` outlives it, and has all its threads.
  explicit ShardPulse(ShardSet& shards);
  ShardPulse(const ShardPulse&) = delete;
  ShardPulse& operator=(const ShardPulse&) = delete;

  // Asks the shards at every interval, in a task of its own, unless all are at home. Fails without
  // a stack.
  Result<void> start();

  std::size_t count() const { return beats_.size(); }
  // How long the loop of that shard owes an answer; zero while it turns, and for one at home.
  Duration silence_of(std::size_t shard) const;
  // The shard that owes an answer for longest.
  ShardSilence longest_silence() const;
  // Those that owe one for answer_time_max, by number.
  std::vector<ShardSilence> silent_shards() const;

  // Runs `work` in a task of each shard at the same time. Suspends until it has ended on all whose
  // loops turn, however long that takes; returns the others, by number, where it may still run or
  // begin, so `work` owns what it uses. Returns the first error, by number of the shard; cancelled
  // when the caller is.
  Result<std::vector<ShardSilence>> ask_each(const ShardSet::Work& work);

 private:
  struct Beat {
    // Set by the shard; shared with a question that may outlive this object.
    std::shared_ptr<std::atomic<bool>> is_answered;
    TimePoint asked_at{};
  };
  struct Question;

  void beat();
  void await(Question& question) const;

  ShardSet& shards_;
  std::vector<Beat> beats_;  // By shard; a shard at home owes nothing.
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
