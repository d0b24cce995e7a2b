// SPDX-License-Identifier: MIT
// Writes changed objects, each some time after its first unsaved change (HostOptions::save_after):
// the earliest first, some at a time.
#pragma once

#include <cstddef>
#include <functional>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/task_group.h"
#include "framework/objects/detail/object_cell.h"

namespace corolane::framework::detail {

class ObjectSaver {
 public:
  // Returns the task function that writes an object; the object stays until the function is
  // destroyed.
  using Writing = std::move_only_function<void()>;
  using BeginWriting = std::function<Writing(ObjectCell& cell)>;

  // Writes at most `writing_count_max` objects at a time.
  ObjectSaver(std::size_t writing_count_max, BeginWriting begin_writing)
      : slots_(writing_count_max, "write of an object"), begin_writing_(std::move(begin_writing)) {}
  ObjectSaver(const ObjectSaver&) = delete;
  ObjectSaver& operator=(const ObjectSaver&) = delete;

  Result<void> start();
  // Cancels the running writes and suspends until they have ended.
  void stop() { tasks_.cancel_and_join(); }

  // Queues a changed object; does nothing when it is queued already.
  void changed(ObjectCell& cell);
  // The write has failed: the next one waits for a while.
  static void failed(ObjectCell& cell);
  // The object is stored, or gone.
  void forget(ObjectCell& cell);
  // The number of queued objects.
  std::size_t count() const { return unsaved_.size(); }

 private:
  void run();
  Result<void> begin(ObjectCell& cell, coroutine::Semaphore::Permit slot);

  coroutine::Semaphore slots_;
  const BeginWriting begin_writing_;
  UnsavedObjects unsaved_;
  coroutine::Event earlier_{"change of an object"};  // An object is due before all others.
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
