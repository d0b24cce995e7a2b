// SPDX-License-Identifier: MIT
// One act of waiting: at one place in a queue or, when selecting, at several; with a deadline.
//
// Only the derived classes know the waiter: a task or a stackless coroutine.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "coroutine/base/check.h"
#include "coroutine/detail/list.h"
#include "coroutine/timer_wheel.h"

namespace corolane::coroutine {

enum class Wake : std::uint8_t { notified, deadline, cancelled };

}  // namespace corolane::coroutine

namespace corolane::coroutine::detail {

class Wait;

// The place of a wait in a queue.
struct Place : ListNode<struct PlaceTag> {
  Wait* wait = nullptr;
  void* slot = nullptr;  // Visible to the notifier.
};

// Lives among the waiter's locals, and so do its places.
class Wait : public Timer {
 public:
  // `woken` is called once, when the wait has ended and left its places; it must not destroy the
  // wait.
  Wait(Callback woken, std::span<Place> places) : Timer(woken) { stand_at(places); }

  // `by` is the place that was notified. When the deadline passes, the timer itself calls `woken`.
  void end(Wake how, const Place* by = nullptr) {
    cancel();
    wake_ = how;
    if (by != nullptr) notified_place_ = static_cast<std::uint16_t>(by - places_);
    call_back();
  }

  // Ends it because its task is cancelled, if it observes that.
  void end_by_cancellation() {
    if (!ignores_cancellation_) end(Wake::cancelled);
  }

  // Whether it was made with that function.
  bool is_of(Callback woken) const { return has(woken); }

  // Once it has ended: how, and at which place when it was notified.
  Wake wake() const { return wake_; }
  std::size_t notified_place() const { return notified_place_; }

 protected:
  void ignore_cancellation() { ignores_cancellation_ = true; }
  // For derived classes that wait more than once: called between two waits.
  explicit Wait(Callback woken) : Timer(woken) {}
  void stand_at(std::span<Place> places) {
    check(places.size() <= std::numeric_limits<std::uint16_t>::max(),
          "a wait has at most 65,535 places");
    places_ = places.data();
    place_count_ = static_cast<std::uint16_t>(places.size());
    wake_ = Wake::deadline;
    for (Place& place : places) place.wait = this;
  }
  void wake_as(Wake how) { wake_ = how; }

  // The first step of `woken`.
  void leave_places() {
    for (Place& place : std::span(places_, place_count_)) place.unlink();
  }

 private:
  // Small, for waits by the million.
  Place* places_ = nullptr;
  std::uint16_t place_count_ = 0;
  std::uint16_t notified_place_ = 0;
  Wake wake_ : 7 = Wake::deadline;
  bool ignores_cancellation_ : 1 = false;
};

}  // namespace corolane::coroutine::detail
