// SPDX-License-Identifier: MIT
// Anything that can be waited for, written once: a task performs it, a stackless coroutine awaits
// it, and select() takes several of them.
//
//   auto move = perform(moves.receiving(), deadline);  // As moves.receive(deadline) does.
//   auto first = select(moves.receiving(), stop.waiting(), deadline);
//
// An operation is a small value that refers to what it waits for and is used once. Not
// thread-safe: it belongs to one scheduler.
#pragma once

#include <concepts>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/task_wait.h"
#include "coroutine/might_suspend.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

template <typename O>
concept Operation = requires(O operation) {
  typename O::Value;
  // Completes it without waiting if possible. Never suspends.
  { operation.try_complete() } -> std::same_as<bool>;
  // An operation that takes something away from others, such as a lock, may also have
  //   bool can_complete() const;
  // which says whether try_complete() would complete it. See might_suspend.h.

  // Otherwise: the queue to wait in, and the slot that the notifier sees meanwhile. The notifier
  // has completed the operation.
  { operation.queue() } -> std::convertible_to<WaitQueue&>;
  { operation.slot() } -> std::convertible_to<void*>;
  // The outcome, once it is complete.
  { operation.finish() } -> std::same_as<Result<typename O::Value>>;
};

namespace detail {

// Whether others may run before the operation completes, instead of only after.
template <Operation O>
bool can_complete(const O& operation) {
  if constexpr (requires { operation.can_complete(); }) return operation.can_complete();
  return false;
}

// Implements perform() in a scheduler that explores suspensions. Out of line, so that the others
// pay for one branch. A task that must wait suspends anyway, and not before it is in the queue: it
// would miss a pulse.
template <Operation O>
[[gnu::cold, gnu::noinline]] Result<typename O::Value> perform_exploring(O operation,
                                                                         Deadline deadline) {
  if (can_complete(operation)) might_suspend(deadline);
  if (!operation.try_complete()) {
    auto waited = wait_or_fail_in(operation.queue(), deadline, operation.slot());
    if (!waited) return std::move(waited.error());
  } else {
    might_suspend(deadline);
  }
  return operation.finish();
}

}  // namespace detail

// Suspends the running task until the operation is complete. Fails as the operation does, or with
// deadline_exceeded or cancelled; an operation that completes without waiting is performed even
// then.
//
// Inlined, as is what it calls: see detail/task_wait.h.
template <Operation O>
[[gnu::always_inline]] inline Result<typename O::Value> perform(O operation, Deadline deadline) {
  if (detail::TaskAccess::explores_suspensions()) [[unlikely]] {
    return detail::perform_exploring(std::move(operation), deadline);
  }
  if (!operation.try_complete()) {
    auto waited = detail::wait_or_fail_in(operation.queue(), deadline, operation.slot());
    if (!waited) [[unlikely]] {
      return std::move(waited.error());
    }
  }
  return operation.finish();
}

}  // namespace corolane::coroutine
