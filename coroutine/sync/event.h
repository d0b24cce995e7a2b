// SPDX-License-Identifier: MIT
// A fact that becomes true: tasks wait until it is set.
//
//   Event ready;
//   auto loader = spawn("load", [&] {
//     load_maps();
//     ready.set();
//   });
//   if (auto waited = ready.wait(deadline); !waited) return waited.error();
#pragma once

#include <cstddef>
#include <source_location>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/known_queue.h"
#include "coroutine/operation.h"

namespace corolane::coroutine {

class Event {
 public:
  // `waited_for` is what introspection shows of the waiting tasks; it outlives the event.
  explicit Event(const char* waited_for = "event",
                 const std::source_location& site = std::source_location::current())
      : waiters_(waited_for, site) {}

  bool is_set() const { return set_; }
  // Wakes all waiters. Never suspends; may be called from the loop.
  void set() {
    set_ = true;
    waiters_.notify_all();
  }
  void reset() { set_ = false; }
  // Wakes all present waiters and leaves the event as it was: for "something changed, look again".
  // Returns how many there were.
  std::size_t pulse() { return waiters_.notify_all(); }
  // The same for the longest waiter; false when there was none.
  bool pulse_one() { return waiters_.notify_one(); }
  bool has_waiters() const { return !waiters_.empty(); }

  // Suspends until the event is set or pulsed. Fails with deadline_exceeded or cancelled.
  Result<void> wait(Deadline deadline) { return perform(waiting(), deadline); }
  // The same, for a wait that must last although the task is cancelled: for someone who still uses
  // what this task owns. False when the deadline passed.
  bool wait_uncancelled(Deadline deadline) {
    return set_ || waiters_.wait(deadline, Cancellation::ignore) == Wake::notified;
  }

  // The same as an operation, for select() and stackless coroutines.
  class Waiting {
   public:
    using Value = void;

    explicit Waiting(Event& event) : event_(event) {}
    bool try_complete() const { return event_.set_; }
    detail::KnownQueue& queue() { return event_.waiters_; }
    void* slot() { return nullptr; }
    Result<void> finish() { return {}; }

   private:
    Event& event_;
  };
  Waiting waiting() { return Waiting(*this); }

 private:
  detail::KnownQueue waiters_;
  bool set_ = false;
};

}  // namespace corolane::coroutine
