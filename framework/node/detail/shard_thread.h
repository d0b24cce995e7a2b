// A shard on a thread of its own, with its loop, network and scheduler.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

#include "coroutine/base/result.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/node/shard.h"

namespace corolane::framework::detail {

class ShardThread {
 public:
  using Work = std::function<Result<void>(Shard& shard)>;
  using Done = std::function<void(const Result<void>& result)>;

  // The thread begins at once. Made and used by tasks of one scheduler, which outlives it.
  // `surroundings` outlive it as well.
  ShardThread(std::size_t index, const Shard::Surroundings& surroundings,
              const coroutine::Scheduler::Options& options);
  // Ends the thread, and suspends until it has ended.
  ~ShardThread();
  ShardThread(const ShardThread&) = delete;
  ShardThread& operator=(const ShardThread&) = delete;

  // Suspends until the shard is there. Fails when it cannot be.
  Result<void> wait_until_ready();
  // Begins to run `work`, which lives until it has ended, in a task of the shard; never suspends.
  // Then `done` is called with its result, on the loop's stack of the home. At once when there is
  // no shard.
  void start(const Work& work, Done done);
  // The shard, for those that know how to talk to it: its scheduler's post().
  Shard& shard() const { return *shard_; }

 private:
  void main(const coroutine::Scheduler::Options& options);
  void live(net::Network& network);

  const std::size_t index_;
  const Shard::Surroundings surroundings_;
  coroutine::Scheduler& home_;
  // Of the thread; valid from ready_ on until stop_ is set.
  coroutine::Scheduler* scheduler_ = nullptr;
  Shard* shard_ = nullptr;
  coroutine::TaskGroup* tasks_ = nullptr;
  coroutine::Event* stop_ = nullptr;
  // Of the home.
  coroutine::WaitQueue changed_{"thread of a shard"};
  bool is_ready_ = false;
  bool has_ended_ = false;
  Result<void> failure_;
  std::thread thread_;
};

}  // namespace corolane::framework::detail
