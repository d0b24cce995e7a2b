// SPDX-License-Identifier: MIT
// Anything that can be waited for, written once: a task performs it, a stackless coroutine awaits
// it, and select() takes several of them.
//
//   auto move = perform(moves.receiving(), deadline);  // As moves.receive(deadline) does.
//   auto first = select(deadline, moves.receiving(), stop.waiting());
//
// An operation is a small value that refers to what it waits for and is used once. Not
// thread-safe: it belongs to one scheduler.
#pragma once

#include <concepts>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/task_wait.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

template <typename O>
concept Operation = requires(O operation) {
  typename O::Value;
  // Completes it without waiting if possible. Never suspends.
  { operation.try_complete() } -> std::same_as<bool>;
  // Otherwise: the queue to wait in, and the slot that the notifier sees meanwhile. The notifier
  // has completed the operation.
  { operation.queue() } -> std::same_as<WaitQueue&>;
  { operation.slot() } -> std::convertible_to<void*>;
  // The outcome, once it is complete.
  { operation.finish() } -> std::same_as<Result<typename O::Value>>;
};

// Suspends the running task until the operation is complete. Fails as the operation does, or with
// deadline_exceeded or cancelled; an operation that completes without waiting is performed even
// then.
//
// Inlined, as is what it calls: see detail/task_wait.h.
template <Operation O>
[[gnu::always_inline]] inline Result<typename O::Value> perform(O operation, Deadline deadline) {
  if (!operation.try_complete()) {
    auto waited = detail::wait_or_fail_in(operation.queue(), deadline, operation.slot());
    if (!waited) [[unlikely]] {
      return std::move(waited.error());
    }
  }
  return operation.finish();
}

}  // namespace corolane::coroutine
