// Waits for the first of several things without taking it: the end of a Task, the result of a
// Future, or an operation that only looks, such as event.waiting().
//
//   auto first = wait_any(deadline, left, right);  // Two tasks.
//   if (!first) return first.error();
//   auto result = *first == 0 ? left.join() : right.join();  // Does not suspend.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/sync/detail/watching.h"
#include "coroutine/sync/select.h"

namespace corolane::coroutine {

// Returns the index of the first, in the order of the arguments, that has already happened;
// otherwise suspends until one has. Fails with deadline_exceeded or cancelled. Allocates nothing.
template <detail::Watchable... Ws>
Result<std::size_t> wait_any(Deadline deadline, Ws&&... watched) {
  detail::Selection selection(detail::watching(std::forward<Ws>(watched))...);
  return detail::complete_one(selection, deadline, "any of several");
}

// The same for a number of tasks, at least one, that is known only at run time. Allocates once when
// it has to wait: one node of a queue for each task.
template <typename T>
Result<std::size_t> wait_any(Deadline deadline, std::span<Task<T>> tasks) {
  check(!tasks.empty(), "there is something to wait for");
  for (std::size_t index = 0; index < tasks.size(); ++index) {
    if (tasks[index].is_done()) return index;
  }
  std::vector<detail::Place> places(tasks.size());
  for (std::size_t index = 0; index < tasks.size(); ++index) {
    tasks[index].joining().queue().add(places[index]);
  }
  return detail::wait_at(places, deadline, "any of several tasks");
}

}  // namespace corolane::coroutine
