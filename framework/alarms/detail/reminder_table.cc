// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/reminder_table.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/text.h"
#include "coroutine/stack/stack_pool.h"
#include "framework/alarms/detail/alarm.h"
#include "framework/alarms/detail/alarm_owner.h"
#include "framework/alarms/detail/alarm_runner.h"
#include "framework/alarms/detail/retry_delay.h"

namespace corolane::framework::detail {
namespace {

constexpr std::size_t reminder_count_max = 64;
constexpr std::size_t name_bytes_max = 128;
constexpr std::size_t error_bytes_max = 200;  // Of a failed run.

}  // namespace

class ReminderTable::ReminderAlarm final : public Alarm {
 public:
  ReminderAlarm(ReminderTable& table, AlarmRunner& runner, AlarmOwner& owner)
      : Alarm(runner, owner, "reminder", coroutine::StackPool::stack_size_bytes_default),
        table_(table) {}

 private:
  void act() override { table_.run_due(); }
  // If the change is lost, the tick runs again.
  void settle() override { owner().save_now(); }
  std::optional<TimePoint> next_time() const override { return table_.next_time(); }
  bool is_due() const override { return table_.due_entry() != nullptr; }

  ReminderTable& table_;  // Valid until the alarm has ended.
};

ReminderTable::~ReminderTable() {
  if (alarm_ != nullptr) alarm_->end();
}

Result<void> ReminderTable::set_once(std::string_view name, WallTime time) {
  return set(name, ReminderPace::once(time));
}

Result<void> ReminderTable::set_every(std::string_view name, WallTime first,
                                      std::chrono::milliseconds interval,
                                      const ReminderOptions& options) {
  return set(name, ReminderPace::every(first, interval, options.missed));
}

Result<void> ReminderTable::set_cron(std::string_view name, std::string_view expression,
                                     std::string_view zone, const ReminderOptions& options) {
  return set(name, ReminderPace::cron(expression, zone, options.missed, runner_.clock().now()));
}

Result<void> ReminderTable::set(std::string_view name, Result<ReminderPace> pace) {
  if (!pace) return pace.error();
  if (owner_.is_transient()) {
    return Error(Code::failed_precondition,
                 "objects of type " + std::string(owner_.type_name()) +
                     " are transient, so they have no reminders; use a timer");
  }
  if (name.empty() || name.size() > name_bytes_max) {
    return Error(Code::invalid_argument, "the name of a reminder has 1 to " +
                                             std::to_string(name_bytes_max) + " bytes, not " +
                                             std::to_string(name.size()));
  }
  Entry* entry = find_entry(name);
  if (entry == nullptr && entries_.size() >= reminder_count_max) {
    return Error(Code::resource_exhausted,
                 std::string(owner_.type_name()) + " " + quote(owner_.id()) + " has " +
                     std::to_string(reminder_count_max) + " reminders already");
  }
  owner_.mark_changed();
  if (entry == nullptr) {
    entries_.push_back({.name = std::string(name), .pace = *pace});
    entry = &entries_.back();
  }
  entry->pace = *std::move(pace);
  entry->generation = ++last_generation_;
  entry->failed_count = 0;
  entry->not_before = {};
  arm();
  return {};
}

void ReminderTable::cancel(std::string_view name) {
  Entry* const entry = find_entry(name);
  if (entry == nullptr) return;
  owner_.mark_changed();
  entries_.erase(entries_.begin() + (entry - entries_.data()));
  arm();
}

std::optional<WallTime> ReminderTable::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found == entries_.end()) return {};
  return found->pace.next_time();
}

ReminderTable::Entry* ReminderTable::find_entry(std::string_view name) {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

std::optional<ReminderTable::Next> ReminderTable::next() const {
  const auto earliest = std::ranges::min_element(
      entries_, {}, [](const Entry& entry) { return entry.pace.next_time(); });
  if (earliest == entries_.end()) return std::nullopt;
  return Next{.name = earliest->name, .in = earliest->pace.next_time() - runner_.clock().now()};
}

std::optional<WallTime> ReminderTable::wake_at() const {
  if (entries_.empty()) return {};
  const auto next = [](const Entry& entry) { return entry.pace.next_time(); };
  return next(*std::ranges::min_element(entries_, {}, next));
}

Result<void> ReminderTable::load(const ObjectRecord& record) {
  for (const StoredReminder& stored : record.reminders()) {
    auto pace = ReminderPace::load(stored);
    if (!pace) return pace.error();
    entries_.push_back(
        {.name = stored.name(), .pace = *std::move(pace), .generation = ++last_generation_});
  }
  arm();
  return {};
}

void ReminderTable::restore(const ObjectRecord& record) {
  entries_.clear();
  // They were loaded or set before, so they are valid.
  static_cast<void>(load(record));
}

void ReminderTable::store(ObjectRecord& record) const {
  for (const Entry& entry : entries_) {
    StoredReminder& stored = *record.add_reminders();
    stored.set_name(entry.name);
    entry.pace.store(stored);
  }
}

void ReminderTable::arm() {
  if (alarm_ == nullptr) alarm_ = std::make_shared<ReminderAlarm>(*this, runner_, owner_);
  alarm_->arm();
}

std::optional<TimePoint> ReminderTable::next_time() const {
  std::optional<TimePoint> first;
  for (const Entry& entry : entries_) {
    const TimePoint time =
        std::max(now() + runner_.clock().step_towards(entry.pace.next_time()), entry.not_before);
    if (!first || time < *first) first = time;
  }
  return first;
}

std::optional<ReminderTable::Failing> ReminderTable::failing() const {
  const auto worst = std::ranges::max_element(entries_, {}, &Entry::failed_count);
  if (worst == entries_.end() || worst->failed_count == 0) return std::nullopt;
  return Failing{.name = worst->name,
                 .failed_count = worst->failed_count,
                 .error = worst->last_error,
                 .comes_again_in = std::max(worst->not_before - now(), Duration::zero())};
}

ReminderTable::Entry* ReminderTable::due_entry() {
  Entry* due = nullptr;
  for (Entry& entry : entries_) {
    if (entry.pace.next_time() > runner_.clock().now() || entry.not_before > now()) continue;
    if (due == nullptr || entry.pace.next_time() < due->pace.next_time()) due = &entry;
  }
  return due;
}

void ReminderTable::run_due() {
  Entry* due = due_entry();
  if (due == nullptr) return;
  const WallTime time = runner_.clock().now();
  if (due->pace.skip(time)) {
    owner_.mark_changed();
    if (due->pace.next_time() > time) return;
  }
  // The run may cancel the reminder and set it again.
  const std::string name = due->name;
  const std::uint64_t generation = due->generation;
  Reminder reminder = due->pace.begin(time);
  reminder.name = name;
  ++owner_.counts().reminder_count;
  running_ = name;
  auto done = owner_.remind(reminder);
  running_.clear();
  due = find_entry(name);
  if (due == nullptr || due->generation != generation) return;
  if (!done) {
    ++owner_.counts().failed_reminder_count;
    due->not_before = now() + retry_delay(++due->failed_count);
    due->last_error = std::string(cut_utf8(done.error().to_string(), error_bytes_max));
    runner_.log().warning("reminder failed", {{"type", owner_.type_name()},
                                              {"id", owner_.id()},
                                              {"reminder", name},
                                              {"failures", due->failed_count},
                                              {"error", done.error().to_string()}});
    return;
  }
  due->failed_count = 0;
  due->not_before = {};
  due->last_error.clear();
  due->pace.advance(reminder);
  if (due->pace.is_over()) entries_.erase(entries_.begin() + (due - entries_.data()));
  owner_.mark_changed();
}

}  // namespace corolane::framework::detail
