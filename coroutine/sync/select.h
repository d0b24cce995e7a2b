// SPDX-License-Identifier: MIT
// Completes whichever of several operations can be completed first, and only that one.
//
//   auto first = select(moves.receiving(), stop.waiting(), deadline);
//   if (!first) return first.error();
//   if (auto* move = std::get_if<0>(&*first)) return play(*move);  // A Result<Move>.
//   return Error(Code::aborted, "the game was stopped");
#pragma once

#include <cstddef>
#include <span>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/might_suspend.h"
#include "coroutine/operation.h"
#include "coroutine/sync/detail/selection.h"

namespace corolane::coroutine {
namespace detail {

// Suspends the running task until one of its queued `places` is notified, and returns which. Fails
// with deadline_exceeded or cancelled. Afterwards no place is queued.
Result<std::size_t> wait_at(std::span<Place> places, Deadline deadline);

template <Operation... Os>
Result<typename Selection<Os...>::Value> select_until(Deadline deadline, Os&... operations) {
  Selection selection(operations...);
  const std::size_t at_once = selection.try_complete();
  if (at_once < selection.count) {
    might_suspend(deadline);
    return selection.finish(at_once);
  }
  selection.queue();
  const auto completed = wait_at(selection.places(), deadline);
  if (!completed) return completed.error();
  return selection.finish(*completed);
}

}  // namespace detail

// Takes the operations and, last as everywhere, the deadline.
//
// Completes the first operation, in the order of the arguments, that needs no wait. When all need
// one, suspends in the queues of all until the first of them is completed. The variant's index says
// which, its alternative holds the result. The others have not happened: a value that one of them
// was about to send is as it was.
//
// Fails with deadline_exceeded or cancelled, and then none has happened; an operation that
// completes without waiting is performed even then. Allocates nothing.
template <typename... Arguments>
  requires detail::OperationsAndDeadline<Arguments...>
auto select(Arguments... operations_and_deadline) {
  return detail::with_last_first(
      []<Operation... Os>(Deadline deadline, Os&... operations) {
        return detail::select_until(deadline, operations...);
      },
      operations_and_deadline...);
}

}  // namespace corolane::coroutine
