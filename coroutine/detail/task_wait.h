// SPDX-License-Identifier: MIT
// The wait of a task in a queue.
//
// All of it is inlined into the waiting function: after a switch each return is mispredicted, and
// costs more than the code between two returns.
#pragma once

#include <concepts>
#include <span>

#include "coroutine/base/deadline.h"
#include "coroutine/detail/known_queue.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/detail/wait.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine::detail {

class TaskWait : public Wait {
 public:
  TaskWait(TaskControl& task, std::span<Place> places, const KnownQueue* known = nullptr)
      : Wait(&woken, places), task_(task), known_(known) {}

  // The wait of a suspended task; null when it waits for a stackless coroutine, or for nothing.
  static const TaskWait* of(const TaskControl& task) {
    const Wait* const wait = task.wait;
    return wait == nullptr || !wait->is_of(&woken) ? nullptr : static_cast<const TaskWait*>(wait);
  }
  // The queue that it waits in, when that is a known one.
  const KnownQueue* known() const { return known_; }
  Deadline deadline() const { return is_armed() ? due() : Deadline::never(); }

  // Suspends the running task until the wait has ended. Its places are already queued.
  // `waiting_for` is for introspection.
  [[gnu::always_inline]] void suspend(Deadline deadline, bool observes_cancellation,
                                      const char* waiting_for) {
    if (!deadline.is_never()) task_.scheduler.timers().arm(*this, deadline);
    if (!observes_cancellation) ignore_cancellation();
    task_.wait = this;
    task_.waiting_for = waiting_for;
    TaskAccess::suspend(task_, TaskState::suspended);
  }

 private:
  static void woken(Timer& timer);

  TaskControl& task_;
  const KnownQueue* const known_;
};

inline const KnownQueue* known_queue(const WaitQueue&) { return nullptr; }
inline const KnownQueue* known_queue(const KnownQueue& queue) { return &queue; }

// Called before the timer of a wait is armed, when the task has flags: the timers of its parts come
// first, as they would if they were not late.
inline void begin_wait(TaskControl& task) {
  if ((task.flags & TaskHead::late_timers_flag) != 0) arm_late_timers(task);
}

// Implements WaitQueue::wait().
template <std::derived_from<WaitQueue> Q>
[[gnu::always_inline]] inline Wake wait_in(Q& queue, Deadline deadline, Cancellation cancellation,
                                           void* slot) {
  TaskControl& task = TaskAccess::running();
  const bool observes_cancellation = cancellation == Cancellation::observe;
  if (task.flags != 0) [[unlikely]] {
    if (observes_cancellation && task.is_cancelled()) return Wake::cancelled;
    begin_wait(task);
  }
  if (deadline <= Deadline::at(task.scheduler.turn_time())) return Wake::deadline;

  Place place;
  place.slot = slot;
  TaskWait wait(task, {&place, 1}, known_queue(queue));
  queue.add(place);
  wait.suspend(deadline, observes_cancellation, queue.waited_for());
  return wait.wake();
}

// Implements WaitQueue::wait_or_fail().
template <std::derived_from<WaitQueue> Q>
[[gnu::always_inline]] inline Result<void> wait_or_fail_in(Q& queue, Deadline deadline,
                                                           void* slot) {
  // Read now: the queue may be gone after the wait.
  const char* const waited_for = queue.waited_for();
  const Wake wake = wait_in(queue, deadline, Cancellation::observe, slot);
  if (wake != Wake::notified) [[unlikely]] {
    return wake_error(wake, waited_for);
  }
  return {};
}

}  // namespace corolane::coroutine::detail
