// SPDX-License-Identifier: MIT
#include "framework/objects/detail/object_saver.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coroutine/task.h"
#include "framework/objects/detail/hosted_type.h"

namespace corolane::framework::detail {
namespace {

// The delay after a failed write until the next write of the same object.
constexpr Duration save_retry_interval = std::chrono::milliseconds(100);

constexpr coroutine::TaskOptions control = {.purpose = coroutine::StackPool::Purpose::control};

}  // namespace

Result<void> ObjectSaver::start() {
  auto task = tasks_.spawn("objects to save", [this] { run(); }, control);
  if (!task) return task.error();
  return {};
}

void ObjectSaver::changed(ObjectCell& cell) {
  if (cell.unsaved_place) return;
  const TimePoint time =
      std::max(cell.changed_since() + cell.type().options().save_after, cell.save_not_before);
  const bool is_first = unsaved_.empty() || time < unsaved_.begin()->first;
  cell.unsaved_place = unsaved_.emplace(time, &cell);
  ++cell.type().counts.unsaved_count;
  if (is_first) earlier_.pulse();
}

void ObjectSaver::failed(ObjectCell& cell) { cell.save_not_before = now() + save_retry_interval; }

void ObjectSaver::forget(ObjectCell& cell) {
  if (!cell.unsaved_place) return;
  unsaved_.erase(*std::exchange(cell.unsaved_place, std::nullopt));
  --cell.type().counts.unsaved_count;
}

void ObjectSaver::run() {
  for (;;) {
    const Deadline due =
        unsaved_.empty() ? Deadline::never() : Deadline::at(unsaved_.begin()->first);
    if (!due.has_passed()) {
      // Meanwhile the object may be written, or leave.
      static_cast<void>(earlier_.wait(due));
      if (coroutine::is_cancelled()) return;
      continue;
    }
    auto slot = slots_.try_hold();
    if (!slot) {
      if (!slots_.hold(Deadline::never())) return;
      continue;
    }
    ObjectCell& cell = *unsaved_.begin()->second;
    forget(cell);
    if (!begin(cell, *std::move(slot))) {
      failed(cell);
      changed(cell);
    }
  }
}

Result<void> ObjectSaver::begin(ObjectCell& cell, coroutine::Semaphore::Permit slot) {
  auto spawned = tasks_.spawn(
      "save object", [write = begin_writing_(cell), slot = std::move(slot)]() mutable { write(); },
      control);
  if (!spawned) return spawned.error();
  return {};
}

}  // namespace corolane::framework::detail
