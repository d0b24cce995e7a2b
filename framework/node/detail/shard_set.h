// SPDX-License-Identifier: MIT
// All shards of a node: each on a thread of its own, or the first one at home, on the thread of the
// node, which this belongs to.
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

  // `home` is the first shard, and outlives the set; null: that has a thread, too. Constructed by a
  // task.
  explicit ShardSet(Shard* home) : home_(home), home_scheduler_(coroutine::Scheduler::current()) {}
  ShardSet(const ShardSet&) = delete;
  ShardSet& operator=(const ShardSet&) = delete;

  // Starts a thread per further shard, up to `count` shards in all. Suspends until they are ready.
  // Fails when the system has no more threads or memory. `loops` outlive the set.
  Result<void> grow(std::size_t count, ShardLoops& loops, const Shard::Surroundings& surroundings,
                    const coroutine::Scheduler::Options& options);
  // Introduces the shards to one another: from now on each calls the objects of all.
  void introduce();

  std::size_t count() const { return threads_.size() + thread_offset(); }
  // Whether that shard shares the thread of the node.
  bool is_at_home(std::size_t shard) const { return shard < thread_offset(); }
  coroutine::Scheduler& scheduler_of(std::size_t shard) const;

  // Runs `work` in a task of each shard at the same time; suspends until all have ended, whether or
  // not the caller is cancelled, and however long one hangs. Returns the first error, by number of
  // the shard.
  Result<void> on_each(const Work& work);
  // The same for one shard, without waiting for one that hangs: when the caller is cancelled or the
  // deadline passes, that is the error, and `work` may still run there. So it owns what it uses.
  Result<void> ask(std::size_t shard, Work work, Deadline deadline);
  // Runs `work` between two turns of each shard; it needs no stack, cannot fail, and must not
  // suspend. Suspends until `work` has run on all, whether or not the caller is cancelled.
  void between_turns(const std::function<void(Shard& shard)>& work);
  // Runs `work` on the loop's stack of each shard, soon; on the one at home at once.
  void post(const std::function<void(Shard& shard)>& work);
  // Runs `work` on the loop's stack of one shard, soon.
  void post_to(std::size_t shard, std::move_only_function<void()> work);

 private:
  std::size_t thread_offset() const { return home_ == nullptr ? 0 : 1; }
  ShardThread& thread_of(std::size_t shard) const { return *threads_.at(shard - thread_offset()); }

  Shard* const home_;  // Null when all shards have threads.
  coroutine::Scheduler& home_scheduler_;
  std::vector<std::unique_ptr<ShardThread>> threads_;
};

}  // namespace corolane::framework::detail
