// Waits for all of several things without taking them: the ends of Tasks, the results of Futures,
// or operations that only look, such as event.waiting().
//
//   if (auto waited = wait_all(deadline, left, right); !waited) return waited.error();
//   return sum(left.join(), right.join());  // Your sum(). Neither join suspends.
//
// Waits for them one after the other, so each condition has to last: a pulse of an Event may be
// missed.
#pragma once

#include <span>
#include <utility>

#include "coroutine/sync/detail/watching.h"

namespace corolane::coroutine {
namespace detail {

template <WatchingOperation O>
Result<void> watch(O operation, Deadline deadline) {
  if (operation.try_complete()) return {};
  return operation.queue().wait_or_fail(deadline, operation.slot());
}

}  // namespace detail

// Suspends until all have happened. Fails with deadline_exceeded or cancelled; the error of a task
// or a future is left for its join() or get(). Allocates nothing.
template <detail::Watchable... Ws>
Result<void> wait_all([[maybe_unused]] Deadline deadline, Ws&&... watched) {
  Result<void> waited;
  static_cast<void>(
      ((waited = detail::watch(detail::watching(std::forward<Ws>(watched)), deadline)) && ...));
  return waited;
}

// The same for a number of tasks that is known only at run time.
template <typename T>
Result<void> wait_all(Deadline deadline, std::span<Task<T>> tasks) {
  for (Task<T>& task : tasks) {
    if (auto waited = detail::watch(task.joining(), deadline); !waited) return waited;
  }
  return {};
}

}  // namespace corolane::coroutine
