// SPDX-License-Identifier: MIT
// Handlers that wait without a turn.
#include <algorithm>
#include <functional>
#include <vector>

#include "coroutine/cancel_scope.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"

namespace corolane::framework::detail {

ObjectCell::Closing::Closing(ObjectCell& cell) : cell_(cell) {
  ++cell_.closing_count_;
  for (coroutine::Event* const event : cell_.awaited_) event->pulse();
  for (coroutine::CancelScope* const work : cell_.outside_work_) work->cancel();
}

ObjectCell::Closing::~Closing() {
  --cell_.closing_count_;
  if (has_turn_) cell_.is_closed_ = false;
}

void ObjectCell::Closing::has_turn() {
  has_turn_ = cell_.is_closed_ = true;
  for (WayBack* const way : cell_.ways_back_) way->close();
}

ObjectCell::WayBack::WayBack(ObjectCell& cell) : cell_(cell), part_(Deadline::never()) {
  cell_.ways_back_.push_back(this);
  if (cell_.is_closed_) close();
}

Result<void> ObjectCell::wait_outside(coroutine::Event& event, Deadline deadline) {
  if (closing_count_ > 0) return moved();
  awaited_.push_back(&event);
  auto waited = event.wait(deadline);
  awaited_.erase(std::ranges::find(awaited_, &event));
  return closing_count_ > 0 ? moved() : waited;
}

Result<void> ObjectCell::run_outside(const std::function<void()>& work, Deadline deadline) {
  if (closing_count_ > 0) return moved();
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
  if (closing_count_ > 0) return moved();
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
