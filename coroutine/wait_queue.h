// Where tasks wait for one another: the list below everything that blocks.
//
// First come, first served: each notify wakes the one that has waited longest, and may hand it
// something through its slot, so that a latecomer cannot snatch it in between. A wait ends by a
// notify, by its deadline or by cancellation of the task, by exactly one of them.
//
// Not thread-safe: all tasks of a queue belong to one scheduler. To wait, one must be a task or a
// stackless coroutine; to notify, any code on the scheduler's thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/base/check.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/list.h"
#include "coroutine/detail/wait.h"

namespace corolane::coroutine {

// The failure that a wait of that kind reports: deadline_exceeded or cancelled.
Error wake_error(Wake wake, const char* waited_for);

enum class Cancellation : std::uint8_t { observe, ignore };

class WaitQueue {
 public:
  // `waited_for` is what introspection shows ("mutex", "reply"); it outlives the queue.
  explicit WaitQueue(const char* waited_for) : waited_for_(waited_for) {}
  ~WaitQueue() { check(places_.empty(), "nobody waits for a thing that is destroyed"); }

  bool empty() const { return places_.empty(); }
  const char* waited_for() const { return waited_for_; }

  // Suspends the running task until one of the three happened. Returns at once when the deadline
  // has passed and, unless it ignores that, when the task is cancelled already. `slot` is what
  // the notifier gets to see.
  Wake wait(Deadline deadline, Cancellation cancellation = Cancellation::observe,
            void* slot = nullptr);

  // The same, observing cancellation, for who only goes on when notified: anything else is the
  // error that wake_error() tells of it.
  Result<void> wait_or_fail(Deadline deadline, void* slot = nullptr);

  // Queues a place of a wait that is about to begin: what wait() is made of, for those that wait
  // in several queues or have no stack.
  void add(detail::Place& place) { places_.push_back(place); }

  // The slot of the one that notify_one() would wake. There must be one.
  void* front_slot() {
    check(!places_.empty(), "somebody waits");
    return places_.front().slot;
  }

  // Returns false when nobody waited. Never suspends: the woken task is queued as ready.
  bool notify_one() {
    if (places_.empty()) return false;
    detail::Place& place = places_.front();
    place.wait->end(Wake::notified, &place);
    return true;
  }

  // Wakes those that wait now, and returns how many.
  std::size_t notify_all();

 private:
  const char* waited_for_;
  detail::List<detail::Place, detail::PlaceTag> places_;
};

}  // namespace corolane::coroutine
