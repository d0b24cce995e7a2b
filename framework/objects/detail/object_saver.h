// Objects that have changed and are not stored yet, each to be written within a second of its first
// change: the oldest first, some at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <list>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/task_group.h"
#include "framework/objects/detail/object_cell.h"

namespace corolane::framework::detail {

class ObjectSaver {
 public:
  // Returns the writing of an object, as what a task runs; the object stays until that is gone.
  using Writing = std::move_only_function<void()>;
  using BeginWriting = std::function<Writing(ObjectCell& cell)>;

  // A change is written `delay` after it was made; `writing_count_max` objects at a time.
  ObjectSaver(Duration delay, std::size_t writing_count_max, BeginWriting begin_writing)
      : delay_(delay),
        slots_(writing_count_max, "write of an object"),
        begin_writing_(std::move(begin_writing)) {}
  ObjectSaver(const ObjectSaver&) = delete;
  ObjectSaver& operator=(const ObjectSaver&) = delete;

  Result<void> start();
  // Cancels what it writes and suspends until that has ended.
  void stop() { tasks_.cancel_and_join(); }

  // Of one that has changed: does nothing when it is known already.
  void changed(ObjectCell& cell);
  // Of one that could not be written: it will be tried again, but not at once.
  static void failed(ObjectCell& cell);
  // It is stored, or gone.
  void forget(ObjectCell& cell);
  // Of objects that are to be written.
  std::size_t count() const { return unsaved_.size(); }

 private:
  void run();
  Result<void> begin(ObjectCell& cell);

  const Duration delay_;
  coroutine::Semaphore slots_;
  const BeginWriting begin_writing_;
  std::list<ObjectCell*> unsaved_;
  coroutine::Event some_unsaved_{"change of an object"};
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
