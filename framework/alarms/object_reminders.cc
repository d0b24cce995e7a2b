// SPDX-License-Identifier: MIT
#include "framework/alarms/object_reminders.h"

#include "framework/alarms/detail/reminder_table.h"

namespace corolane::framework {

Result<void> ObjectReminders::at(std::string_view name, WallTime time) {
  return table_.set_once(name, time);
}

Result<void> ObjectReminders::every(std::string_view name, WallTime first,
                                    std::chrono::milliseconds interval, const Options& options) {
  return table_.set_every(name, first, interval, options);
}

Result<void> ObjectReminders::cron(std::string_view name, std::string_view expression,
                                   std::string_view zone, const Options& options) {
  return table_.set_cron(name, expression, zone, options);
}

void ObjectReminders::cancel(std::string_view name) { table_.cancel(name); }

std::optional<WallTime> ObjectReminders::find(std::string_view name) const {
  return table_.find(name);
}

std::size_t ObjectReminders::size() const { return table_.size(); }

}  // namespace corolane::framework
