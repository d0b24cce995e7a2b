// SPDX-License-Identifier: MIT
// Handlers that wait without a turn.
#include <algorithm>
#include <functional>
#include <vector>

#include "coroutine/cancel_scope.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"

namespace corolane::framework::detail {

void ObjectCell::set_closing(bool is_closing) {
  is_closing_ = is_closing;
  if (!is_closing) return;
  for (coroutine::Event* const event : awaited_) event->pulse();
  for (coroutine::CancelScope* const work : outside_work_) work->cancel();
}

Result<void> ObjectCell::wait_outside(coroutine::Event& event, Deadline deadline) {
  if (is_closing_) return moved();
  awaited_.push_back(&event);
  auto waited = event.wait(deadline);
  awaited_.erase(std::ranges::find(awaited_, &event));
  return is_closing_ ? moved() : waited;
}

Result<void> ObjectCell::run_outside(const std::function<void()>& work, Deadline deadline) {
  if (is_closing_) return moved();
  coroutine::CancelScope part(deadline);
  // The work may throw.
  struct Place {
    Place(std::vector<coroutine::CancelScope*>& its_list, coroutine::CancelScope& its_part)
        : list(its_list), part(its_part) {
      list.push_back(&part);
    }
    ~Place() { std::erase(list, &part); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    std::vector<coroutine::CancelScope*>& list;
    coroutine::CancelScope& part;
  };
  const Place place(outside_work_, part);
  work();
  if (is_closing_) return moved();
  if (!part.is_cancelled()) return {};
  return Error(Code::deadline_exceeded, "the work without a turn did not end in time");
}

void ObjectCell::look_for_watchers() {
  for (Watcher* const watcher : watchers_) {
    if (watcher->came_true.is_set()) continue;
    bool is_true = true;  // The watcher meets the exception itself.
    try {
      is_true = watcher->predicate();
    } catch (...) {
    }
    if (is_true) watcher->came_true.set();
  }
}

}  // namespace corolane::framework::detail
