// What an object of another shard of this process publishes, on its way here: a message between
// threads for each batch, and one back when there is room for the next. The publications themselves
// are shared, since nobody changes them.
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

// What both shards know of it. Each part says whose it is.
class CrossFollow : public std::enable_shared_from_this<CrossFollow> {
 public:
  // Runs where the object lives, in a task of that shard: publish_to().
  using Serve = std::function<Result<void>(const SendBatch& send)>;

  // By the feed's task.
  explicit CrossFollow(Feed& feed) : home_(coroutine::Scheduler::current()), feed_(&feed) {}
  CrossFollow(const CrossFollow&) = delete;
  CrossFollow& operator=(const CrossFollow&) = delete;

  // Suspends until `serve` has ended, and returns its result, or until the task is cancelled, which
  // cancels that. `tasks` are those of the other shard, on whose thread alone they are touched;
  // both outlive it.
  Result<void> run(coroutine::Scheduler& there, coroutine::TaskGroup& tasks, Serve serve);

 private:
  void begin(coroutine::TaskGroup& tasks);
  Result<void> send(const PublishedBatch& batch);
  void arrive(const PublishedBatch& batch);
  void end(Result<void> result);

  coroutine::Scheduler& home_;
  // Written before it is sent.
  coroutine::Scheduler* there_ = nullptr;
  Serve serve_;
  // Of the shard that serves.
  coroutine::TaskRef task_;
  bool is_cancelled_ = false;
  std::optional<Result<void>> received_;  // What the feed said of the last batch.
  coroutine::WaitQueue room_{"room on the shard of subscribers"};
  // Of the feed's.
  Feed* feed_;  // Null when it waits no more.
  std::optional<Result<void>> result_;
  coroutine::WaitQueue ended_{"publications of another shard"};
};

}  // namespace corolane::framework::detail
