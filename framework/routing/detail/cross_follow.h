// SPDX-License-Identifier: MIT
// Carries the publications of an object on another shard of this process to this one: a message
// between threads for each batch, and one back when there is room for the next. The publications
// are immutable and therefore shared.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "coroutine/base/result.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/wait_queue.h"
#include "framework/objects/detail/publisher.h"
#include "framework/push/detail/feed.h"

namespace corolane::framework::detail {

// The state that both shards share. A comment names the owner of each part.
class CrossFollow : public std::enable_shared_from_this<CrossFollow> {
 public:
  // Runs publish_to() in a task of the object's shard.
  using Serve = std::function<Result<void>(const SendBatch& send)>;

  // Constructed by the feed's task.
  explicit CrossFollow(Feed& feed) : home_(coroutine::Scheduler::current()), feed_(&feed) {}
  CrossFollow(const CrossFollow&) = delete;
  CrossFollow& operator=(const CrossFollow&) = delete;

  // Suspends until `serve` has ended, and returns its result. Cancelling the calling task cancels
  // `serve`. `tasks` belongs to the other shard and is touched on its thread only; both outlive
  // this.
  Result<void> run(coroutine::Scheduler& there, coroutine::TaskGroup& tasks, Serve serve);

 private:
  Result<void> send(const PublishedBatch& batch);
  void arrive(const PublishedBatch& batch);

  coroutine::Scheduler& home_;
  // Constant once `serve` has been sent.
  coroutine::Scheduler* there_ = nullptr;
  // Owned by the serving shard.
  std::optional<Result<void>> received_;  // The feed's result for the last batch.
  coroutine::WaitQueue room_{"room on the shard of subscribers"};
  // Owned by the feed's shard.
  Feed* feed_;  // Null once run() no longer waits.
};

}  // namespace corolane::framework::detail
