// SPDX-License-Identifier: MIT
#include "coroutine/sync/ticker.h"

#include "coroutine/base/check.h"
#include "coroutine/task.h"

namespace corolane::coroutine {

Ticker::Ticker(Duration interval, TimePoint start)
    : interval_(interval), next_due_(start + interval) {
  check(interval > Duration::zero(), "a ticker has a positive interval");
}

Result<Ticker::Tick> Ticker::next(Deadline deadline) {
  if (next_due_ <= now()) {
    // A task whose work always takes longer than an interval would never suspend.
    if (auto others = yield(); !others) return std::move(others.error());
  } else {
    const Deadline due = Deadline::at(next_due_);
    if (auto slept = sleep_until(earlier(due, deadline)); !slept) return std::move(slept.error());
    if (deadline < due) return wake_error(Wake::deadline, "tick");
  }
  const auto missed_count = static_cast<std::uint64_t>((now() - next_due_) / interval_);
  const Tick tick{.due = next_due_ + missed_count * interval_, .missed_count = missed_count};
  next_due_ = tick.due + interval_;
  return tick;
}

}  // namespace corolane::coroutine
