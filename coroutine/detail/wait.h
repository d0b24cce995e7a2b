// One act of waiting: at one place in a queue or, when selecting, at several; with a deadline.
//
// What the waiting one is, a task or a stackless coroutine, only its heirs know.
#pragma once

#include <cstdint>
#include <span>

#include "coroutine/detail/list.h"
#include "coroutine/timer_wheel.h"

namespace corolane::coroutine {

enum class Wake : std::uint8_t { notified, deadline, cancelled };

}  // namespace corolane::coroutine

namespace corolane::coroutine::detail {

struct TaskControl;
class Wait;

// Where a wait stands in a queue.
struct Place : ListNode<struct PlaceTag> {
  Wait* wait = nullptr;
  void* slot = nullptr;  // What the notifier gets to see.
};

// Lives where the locals of the waiting one live, and so do its places.
class Wait : public Timer {
 public:
  // `woken` is called once, when the wait has ended and left its places; it must not destroy the
  // wait.
  Wait(Callback woken, std::span<Place> places) : Timer(woken), places_(places) {
    for (Place& place : places_) place.wait = this;
  }

  // `by` is the place that was notified. When the deadline passes, the timer itself calls `woken`.
  void end(Wake how, const Place* by = nullptr) {
    cancel();
    wake_ = how;
    by_ = by;
    call_back();
  }

  // Once it has ended: how, and by which place when it was notified.
  Wake wake() const { return wake_; }
  std::size_t notified_place() const { return static_cast<std::size_t>(by_ - places_.data()); }

 protected:
  // What `woken` does first.
  void leave_places() {
    for (Place& place : places_) place.unlink();
  }

 private:
  std::span<Place> places_;
  const Place* by_ = nullptr;
  Wake wake_ = Wake::deadline;
};

// The wait of a task.
class TaskWait : public Wait {
 public:
  TaskWait(TaskControl& task, std::span<Place> places) : Wait(&woken, places), task_(task) {}

  // Suspends the task, which is the running one, until the wait has ended. Its places have been
  // queued. `waiting_for` is for introspection.
  void suspend(Deadline deadline, bool observes_cancellation, const char* waiting_for);

 private:
  static void woken(Timer& timer);

  TaskControl& task_;
};

}  // namespace corolane::coroutine::detail
