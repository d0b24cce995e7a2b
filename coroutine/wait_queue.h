// SPDX-License-Identifier: MIT
// Lets tasks wait for one another: the list below everything that blocks.
//
//   class Event {
//    public:
//     Result<void> wait(Deadline deadline) {
//       return is_set_ ? Result<void>() : waiters_.wait_or_fail(deadline);
//     }
//     void set() {
//       is_set_ = true;
//       waiters_.notify_all();
//     }
//
//    private:
//     bool is_set_ = false;
//     WaitQueue waiters_{"event"};
//   };
//
// First come, first served: each notify wakes the longest waiter, and may hand it something through
// its slot, so that a latecomer cannot snatch it in between. A wait ends by exactly one of three: a
// notify, its deadline, or cancellation of the task.
//
// Not thread-safe: all tasks of a queue belong to one scheduler. A waiter is a task or a stackless
// coroutine; a notifier is any code on the scheduler's thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/base/check.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/list.h"
#include "coroutine/detail/wait.h"

namespace corolane::coroutine {

// The error that a failed wait reports: deadline_exceeded or cancelled.
Error wake_error(Wake wake, const char* waited_for);

enum class Cancellation : std::uint8_t { observe, ignore };

class WaitQueue {
 public:
  // `waited_for` is what introspection shows ("mutex", "reply"); it outlives the queue.
  explicit WaitQueue(const char* waited_for) : waited_for_(waited_for) {}
  ~WaitQueue() { check(places_.empty(), "no waiter is left in a queue that is destroyed"); }

  bool empty() const { return places_.empty(); }
  const char* waited_for() const { return waited_for_; }
  // For what is moved. No task may wait.
  void set_waited_for(const char* waited_for) { waited_for_ = waited_for; }

  // Suspends the running task until one of the three happens. Returns at once when the deadline has
  // passed or, unless it ignores cancellation, the task is already cancelled. `slot` is visible to
  // the notifier.
  Wake wait(Deadline deadline, Cancellation cancellation = Cancellation::observe,
            void* slot = nullptr);

  // The same, observing cancellation, for callers that continue only when notified: any other end
  // is returned as the error from wake_error().
  Result<void> wait_or_fail(Deadline deadline, void* slot = nullptr);

  // Queues a place of a wait that is about to begin: the building block of wait(), for waiters in
  // several queues or without a stack.
  void add(detail::Place& place) { places_.push_back(place); }

  // The slot of the longest waiter. There must be one.
  void* front_slot() {
    check(!places_.empty(), "there is a waiter to wake");
    return places_.front().slot;
  }

  // Returns false when there was no waiter. Never suspends: the woken task is queued as ready.
  bool notify_one() {
    if (places_.empty()) return false;
    detail::Place& place = places_.front();
    place.wait->end(Wake::notified, &place);
    return true;
  }

  // Wakes all present waiters, and returns how many.
  std::size_t notify_all();

 private:
  const char* waited_for_;
  detail::List<detail::Place, detail::PlaceTag> places_;
};

}  // namespace corolane::coroutine
