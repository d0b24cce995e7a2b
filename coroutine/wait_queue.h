// Where tasks wait for one another: the list below everything that blocks.
//
// First come, first served: each notify wakes the one that has waited longest, and may hand it
// something through its slot, so that a latecomer cannot snatch it in between. A wait ends by a
// notify, by its deadline or by cancellation of the task, by exactly one of them.
//
// Not thread-safe: all tasks of a queue belong to one scheduler. To wait, one must be a task; to
// notify, any code on the scheduler's thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/base/result.h"
#include "coroutine/detail/list.h"
#include "coroutine/timer_wheel.h"

namespace corolane::coroutine {
namespace detail {
struct TaskControl;
}

enum class Wake : std::uint8_t { notified, deadline, cancelled };

// The failure that a wait of that kind reports: deadline_exceeded or cancelled.
Error wake_error(Wake wake, const char* waited_for);

enum class Cancellation : std::uint8_t { observe, ignore };

class WaitQueue {
 public:
  // `waited_for` is what introspection shows ("mutex", "reply"); it outlives the queue.
  explicit WaitQueue(const char* waited_for) : waited_for_(waited_for) {}
  ~WaitQueue();

  bool empty() const { return waiters_.empty(); }

  // Suspends the running task until one of the three happened. Returns at once when the deadline
  // has passed and, unless it ignores that, when the task is cancelled already. `slot` is what
  // the notifier gets to see.
  Wake wait(Deadline deadline, Cancellation cancellation = Cancellation::observe,
            void* slot = nullptr);

  // The same, observing cancellation, for who only goes on when notified: anything else is the
  // error that wake_error() tells of it.
  Result<void> wait_or_fail(Deadline deadline, void* slot = nullptr);

  // The slot of the one that notify_one() would wake. There must be one.
  void* front_slot();

  // Returns false when nobody waited. Never suspends: the woken task is queued as ready.
  bool notify_one();
  // Returns how many it woke.
  std::size_t notify_all();

 private:
  friend struct detail::TaskControl;

  // One wait of one task; lives on the stack of that task.
  struct Waiter : detail::ListNode<struct WaiterTag>, Timer {
    explicit Waiter(detail::TaskControl& waiting_task)
        : Timer(&Waiter::on_deadline), task(waiting_task) {}
    static void on_deadline(Timer& timer);
    void end(Wake how);

    detail::TaskControl& task;
    void* slot = nullptr;
    Wake wake = Wake::notified;
  };

  const char* waited_for_;
  detail::List<Waiter, WaiterTag> waiters_;
};

}  // namespace corolane::coroutine
