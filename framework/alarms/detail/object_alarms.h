// The timers and reminders of one object, created on first use.
#pragma once

#include "framework/alarms/detail/reminder_table.h"
#include "framework/alarms/detail/timer_table.h"

namespace corolane::framework::detail {

struct ObjectAlarms {
  // Both outlive it.
  ObjectAlarms(AlarmRunner& runner, ObjectCell& cell)
      : timers(runner, cell), reminders(runner, cell) {}

  TimerTable timers;
  ReminderTable reminders;
};

}  // namespace corolane::framework::detail
