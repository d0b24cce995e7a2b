// SPDX-License-Identifier: MIT
// What an object does unasked by a call: its alarms, its saves, and being woken by a reminder.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "coroutine/task.h"
#include "framework/alarms/detail/alarm.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/object_turn.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/detail/method_name.h"

namespace corolane::framework::detail {

// Runs work of an object that no call has asked for.
template <typename F>
Result<void> ObjectHost::run_unasked(Turn& turn, const std::string& label, F&& work) {
  ObjectCell& cell = turn.cell();
  const auto save_time = [this] { return Deadline::after(options_.save_time_max); };
  if (!turn.take(/*is_shared=*/false, Deadline::never())) {
    return Error(Code::cancelled, "cancelled while waiting for a turn");
  }
  if (cell.hides_change()) {
    if (auto saved = save(cell, save_time()); !saved) return saved;
  }
  // The object may be gone or have another owner by now.
  if (!cell.is_current() || !cell.is_owned()) return cell.moved();
  if (cell.rests()) return cell.resting();
  {
    const ObjectCell::Handler handler(cell, Deadline::never());
    const CallChain::Frame frame(nullptr, label.c_str(), cell.id(), cell.epoch(), &turn);
    std::forward<F>(work)();
  }
  if (turn.is_held() && cell.is_changed() && has_too_many_unsaved()) {
    save_or_warn(cell, save_time());
  }
  // Publications wait for a proof.
  if (turn.is_held() && cell.has_unproven()) static_cast<void>(cell.prove(save_time()));
  return {};
}

void ObjectHost::save_or_warn(ObjectCell& cell, Deadline deadline) {
  auto saved = save(cell, deadline);
  // After a cancellation stop() stores the rest.
  if (!saved && !coroutine::is_cancelled()) {
    log_.warning(
        "object not stored",
        {{"type", cell.type().name()}, {"id", cell.id()}, {"error", saved.error().to_string()}});
  }
}

ObjectSaver::Writing ObjectHost::begin_writing(ObjectCell& cell) {
  return [this, &cell, visit = std::make_unique<QuietVisit>(*this, cell)] {
    const Deadline deadline = Deadline::after(options_.save_time_max);
    Turn turn(*this, cell, {.what = "to be saved"});
    // A shared turn would suffice, but then readers could be inside when the object turns out to be
    // lost.
    if (turn.take(/*is_shared=*/false, deadline)) save_or_warn(cell, deadline);
  };
}

void ObjectHost::write_soon(ObjectCell& cell) {
  if (cell.is_writing()) return;
  cell.begin_writing();
  ++shared_write_count_;
  const auto write = [this, &cell, visit = std::make_shared<QuietVisit>(*this, cell)] {
    cell.run_shared_writes(options_.save_time_max);
    --shared_write_count_;
    if (cell.hides_change()) shared_writes_failed_until_ = now() + std::chrono::hours(1);
    note_size(cell, cell.size_bytes());
    if (!cell.is_changed()) saver_.forget(cell);
  };
  // Without a stack for it, this task writes.
  auto spawned = housekeeping_.spawn("store object", write,
                                     {.purpose = coroutine::StackPool::Purpose::control});
  if (!spawned) write();
}

Result<void> ObjectHost::wait_for_shared_write(const CallChain::Link& caller) const {
  const HostedType* const type = find_type(type_of(caller.method));
  ObjectCell* const cell = type == nullptr ? nullptr : type->find(caller.id);
  return cell == nullptr ? Result<void>() : cell->wait_until_stored(Deadline::never());
}

AlarmRunner::Run ObjectHost::begin_run(std::shared_ptr<Alarm> alarm) {
  ObjectCell& cell = static_cast<ObjectAlarms&>(alarm->owner()).cell();
  return
      [this, &cell, alarm = std::move(alarm), visit = std::make_unique<QuietVisit>(*this, cell)] {
        Turn turn(*this, cell, {.what = alarm->label().c_str()});
        // An alarm that could not run is retried.
        static_cast<void>(run_unasked(turn, alarm->label(), [&] {
          if (alarm->has_ended()) return;
          alarm->run();
          if (turn.is_held()) alarm->settle();
        }));
      };
}

Result<void> ObjectHost::run_in_turn(ObjectCell& cell, const std::string& label,
                                     const std::function<void()>& work) {
  const Visit visit(*this, cell);
  Turn turn(*this, cell, {.what = label.c_str()});
  return run_unasked(turn, label, work);
}

Result<void> ObjectHost::wake(HostedType& type, std::string_view id) {
  auto found = cell_of(type, id, MailboxPart::writers);
  if (!found) return found.error();
  ObjectCell& cell = **found;
  // An active object is woken by its own alarm.
  if (cell.is_active() && cell.is_current()) return {};
  const std::uint32_t failed_before = cell.failed_activation_count;
  const Visit visit(*this, cell);
  Turn turn(*this, cell, {.what = "to be woken by a reminder"});
  const Deadline deadline = Deadline::after(options_.save_time_max);
  if (!turn.take(/*is_shared=*/false, deadline)) {
    return Error(Code::unavailable, "it did not get a turn in time");
  }
  if (cell.is_current()) return {};
  if (cell.has_stale_object()) {
    turn.end();
    static_cast<void>(drop_stale(cell, deadline));
    return Error(Code::unavailable, "it was activated under an earlier ownership");
  }
  if (is_on_the_move(cell)) return Error(Code::unavailable, "its partition is moving");
  return make_ready(cell, failed_before, deadline);
}

void ObjectHost::wake_later(const ObjectCell& cell, WallTime time) {
  reminders_.note(cell.type(), cell.id(), time);
}

}  // namespace corolane::framework::detail
