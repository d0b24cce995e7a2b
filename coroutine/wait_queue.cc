#include "coroutine/wait_queue.h"

#include <string>

#include "coroutine/base/check.h"
#include "coroutine/detail/task_frame.h"

namespace corolane::coroutine {

Error wake_error(Wake wake, const char* waited_for) {
  check(wake != Wake::notified, "only a wait that failed has an error");
  if (wake == Wake::cancelled) {
    return Error(Code::cancelled, std::string("cancelled while waiting: ") + waited_for);
  }
  return Error(Code::deadline_exceeded,
               std::string("deadline passed while waiting: ") + waited_for);
}

WaitQueue::~WaitQueue() { check(waiters_.empty(), "nobody waits for a thing that is destroyed"); }

Wake WaitQueue::wait(Deadline deadline, Cancellation cancellation, void* slot) {
  detail::TaskControl& task = detail::TaskAccess::running();
  Scheduler& scheduler = task.scheduler;
  if (cancellation == Cancellation::observe && task.cancelled) return Wake::cancelled;
  if (deadline <= Deadline::at(scheduler.turn_time())) return Wake::deadline;

  Waiter waiter(task);
  waiter.slot = slot;
  waiters_.push_back(waiter);
  scheduler.timers().arm(waiter, deadline);
  if (cancellation == Cancellation::observe) task.waiter = &waiter;
  task.waiting_for = waited_for_;
  scheduler.suspend_running();
  return waiter.wake;
}

Result<void> WaitQueue::wait_or_fail(Deadline deadline, void* slot) {
  // Read now: whoever is done waiting may find the queue gone.
  const char* const waited_for = waited_for_;
  const Wake wake = wait(deadline, Cancellation::observe, slot);
  if (wake != Wake::notified) return wake_error(wake, waited_for);
  return {};
}

void* WaitQueue::front_slot() {
  check(!waiters_.empty(), "somebody waits");
  return waiters_.front().slot;
}

bool WaitQueue::notify_one() {
  if (waiters_.empty()) return false;
  waiters_.front().end(Wake::notified);
  return true;
}

std::size_t WaitQueue::notify_all() {
  std::size_t count = 0;
  while (notify_one()) ++count;
  return count;
}

void WaitQueue::Waiter::on_deadline(Timer& timer) {
  static_cast<Waiter&>(timer).end(Wake::deadline);
}

void WaitQueue::Waiter::end(Wake how) {
  static_cast<detail::ListNode<WaiterTag>&>(*this).unlink();
  cancel();
  wake = how;
  task.waiter = nullptr;
  task.waiting_for = nullptr;
  task.make_ready();
}

}  // namespace corolane::coroutine
