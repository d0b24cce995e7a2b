// SPDX-License-Identifier: MIT
// The reminders of one active object: the implementation of ObjectReminders.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "framework/alarms/detail/reminder_pace.h"
#include "framework/alarms/object_reminders.h"
#include "framework/wire/objects.pb.h"

namespace corolane::framework::detail {

class AlarmOwner;
class AlarmRunner;

class ReminderTable {
 public:
  // Both outlive it.
  ReminderTable(AlarmRunner& runner, AlarmOwner& owner) : runner_(runner), owner_(owner) {}
  ~ReminderTable();
  ReminderTable(const ReminderTable&) = delete;
  ReminderTable& operator=(const ReminderTable&) = delete;

  Result<void> set_once(std::string_view name, WallTime time);
  Result<void> set_every(std::string_view name, WallTime first, std::chrono::milliseconds interval,
                         const ReminderOptions& options);
  Result<void> set_cron(std::string_view name, std::string_view expression, std::string_view zone,
                        const ReminderOptions& options);
  void cancel(std::string_view name);
  std::optional<WallTime> find(std::string_view name) const;
  std::size_t size() const { return entries_.size(); }

  // A reminder whose last run has failed. It comes again.
  struct Failing {
    std::string name;
    std::uint32_t failed_count;
    std::string error;
    Duration comes_again_in;
  };
  // The one that has failed most often in a row; nothing when none has.
  std::optional<Failing> failing() const;

  // The one that runs now; empty: none.
  const std::string& running() const { return running_; }
  struct Next {
    std::string name;
    Duration in;  // Negative when it is late.
  };
  // The earliest; nothing when there are none.
  std::optional<Next> next() const;

  // The time of the next reminder, at which the object is woken if it sleeps.
  std::optional<WallTime> wake_at() const;
  Result<void> load(const ObjectRecord& record);
  // Makes them those of `record`, which store() has filled in.
  void restore(const ObjectRecord& record);
  void store(ObjectRecord& record) const;

 private:
  class ReminderAlarm;

  struct Entry {
    std::string name;
    ReminderPace pace;
    std::uint64_t generation = 0;    // Changes each time it is set.
    std::uint32_t failed_count = 0;  // Failed runs of the next tick.
    TimePoint not_before{};          // After a failure.
    std::string last_error = {};     // Of it.
  };

  Result<void> set(std::string_view name, Result<ReminderPace> pace);
  Entry* find_entry(std::string_view name);
  void arm();
  std::optional<TimePoint> next_time() const;
  // The entry that has been due for longest; null when none is due.
  Entry* due_entry();
  void run_due();

  AlarmRunner& runner_;
  AlarmOwner& owner_;
  std::vector<Entry> entries_;
  std::uint64_t last_generation_ = 0;
  std::string running_;
  std::shared_ptr<ReminderAlarm> alarm_;  // Null until there is a reminder.
};

}  // namespace corolane::framework::detail
