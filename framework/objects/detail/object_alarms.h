// SPDX-License-Identifier: MIT
// The timers, the reminders and the outbox of one object, created on first use.
#pragma once

#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "framework/alarms/detail/alarm_owner.h"
#include "framework/alarms/detail/reminder_table.h"
#include "framework/alarms/detail/timer_table.h"
#include "framework/objects/detail/outbox.h"

namespace corolane::framework::detail {

class ObjectCell;

class ObjectAlarms final : public AlarmOwner {
 public:
  // Both outlive it.
  ObjectAlarms(AlarmRunner& runner, ObjectCell& cell)
      : timers(runner, *this), reminders(runner, *this), outbox(runner, *this, cell), cell_(cell) {}

  ObjectCell& cell() const { return cell_; }

  std::string_view type_name() const override;
  const std::string& id() const override;
  AlarmCounts& counts() override;
  bool is_transient() const override;
  void mark_changed() override;
  void save_now() override;
  Result<void> remind(const Reminder& reminder) override;

  TimerTable timers;
  ReminderTable reminders;
  Outbox outbox;

 private:
  ObjectCell& cell_;
};

}  // namespace corolane::framework::detail
