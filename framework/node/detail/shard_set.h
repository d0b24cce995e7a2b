// SPDX-License-Identifier: MIT
// All shards of a node: the first one, whose thread this belongs to, and those on other threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "coroutine/base/result.h"
#include "framework/node/detail/shard_thread.h"
#include "framework/node/shard.h"

namespace corolane::framework::detail {

class ShardSet {
 public:
  using Work = ShardThread::Work;

  // `first` outlives it.
  explicit ShardSet(Shard& first) : first_(first) {}
  ShardSet(const ShardSet&) = delete;
  ShardSet& operator=(const ShardSet&) = delete;

  // Starts a thread per further shard, up to `count` shards in all. Suspends until they are ready.
  // Fails when the system has no more threads or memory. `loops` outlive the set.
  Result<void> grow(std::size_t count, ShardLoops& loops, const Shard::Surroundings& surroundings,
                    const coroutine::Scheduler::Options& options);
  // Introduces the shards to one another: from now on each calls the objects of all.
  void introduce();

  std::size_t count() const { return threads_.size() + 1; }
  Shard& first() const { return first_; }

  // Runs `work` in a task of each shard at the same time; suspends until all have ended, whether or
  // not the caller is cancelled. Returns the first error, by number of the shard.
  Result<void> on_each(const Work& work);
  // Runs `work` between two turns of each shard; it needs no stack, cannot fail, and must not
  // suspend. Suspends until `work` has run on all, whether or not the caller is cancelled.
  void between_turns(const std::function<void(Shard& shard)>& work);
  // Runs `work` on the loop's stack of each shard, soon; on the first one at once.
  void post(const std::function<void(Shard& shard)>& work);
  // Runs `work` on the loop's stack of one shard that is not the first, soon.
  void post_to_other(std::size_t shard, std::move_only_function<void()> work);

 private:
  Shard& first_;
  std::vector<std::unique_ptr<ShardThread>> threads_;
};

}  // namespace corolane::framework::detail
