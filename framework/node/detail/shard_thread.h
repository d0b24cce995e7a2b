// SPDX-License-Identifier: MIT
// A shard with a loop of its own, on another thread than the node's.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "coroutine/base/result.h"
#include "coroutine/call_on.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "framework/node/shard.h"
#include "framework/node/shard_loops.h"

namespace corolane::framework::detail {

class ShardThread {
 public:
  using Work = std::function<Result<void>(Shard& shard)>;

  // Starts the thread at once. Constructed and used by tasks of one scheduler, which outlives it.
  // `loops` and `surroundings` outlive it as well.
  ShardThread(ShardLoops& loops, std::size_t index, const Shard::Surroundings& surroundings,
              const coroutine::Scheduler::Options& options);
  // Ends the thread, and suspends until it has ended.
  ~ShardThread();
  ShardThread(const ShardThread&) = delete;
  ShardThread& operator=(const ShardThread&) = delete;

  // Suspends until the shard is ready. Fails when it cannot be created.
  Result<void> wait_until_ready();
  // Starts `work`, which outlives its run, in a task of the shard. Never suspends. The call ignores
  // the cancellation of its caller, and fails as wait_until_ready() does.
  coroutine::SentCall<void> start(const Work& work);
  // Runs `work` in a task of the shard. When the caller is cancelled or the deadline passes, that
  // is the error, and the work is cancelled and left: it may still run, so it owns what it uses.
  // Fails as wait_until_ready() does. Suspends.
  Result<void> ask(Work work, Deadline deadline);
  // Both are valid when the shard is ready. The shard is used only by its scheduler's post().
  Shard& shard() const { return *shard_; }
  coroutine::Scheduler& scheduler() const { return *scheduler_; }

 private:
  void live(net::Network& network);
  void end(const Result<void>& ran);

  const std::size_t index_;
  const Shard::Surroundings surroundings_;
  coroutine::Scheduler& home_;
  // Owned by the thread; valid from is_ready_ until stop_ is set.
  coroutine::Scheduler* scheduler_ = nullptr;
  Shard* shard_ = nullptr;
  coroutine::Event* stop_ = nullptr;
  // Owned by the home scheduler.
  coroutine::WaitQueue changed_{"thread of a shard"};
  bool is_ready_ = false;
  bool has_ended_ = false;
  Result<void> failure_;
  std::unique_ptr<ShardLoop> loop_;
};

}  // namespace corolane::framework::detail
