// SPDX-License-Identifier: MIT
// The needs of the timers and reminders of an object: its name, its turn, its store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "framework/alarms/object_reminders.h"

namespace corolane::framework::detail {

// Counters over all objects of a type on a shard.
struct AlarmCounts {
  std::uint64_t tick_count = 0;         // Runs of timers.
  std::uint64_t missed_tick_count = 0;  // Ticks merged into a later run.
  std::uint64_t reminder_count = 0;     // Runs of reminders.
  std::uint64_t failed_reminder_count = 0;
};

class AlarmOwner {
 public:
  // "package.Room".
  virtual std::string_view type_name() const = 0;
  virtual const std::string& id() const = 0;
  virtual AlarmCounts& counts() = 0;
  // It lives in memory only, so no reminder could wake it.
  virtual bool is_transient() const { return false; }

  // The state of the object is about to change and will be stored.
  virtual void mark_changed() = 0;
  // Stores it now. Suspends. A failed write is repeated within a second.
  virtual void save_now() = 0;
  // Calls on_reminder() of the object; an exception is an error. Suspends.
  virtual Result<void> remind(const Reminder& reminder) = 0;

 protected:
  ~AlarmOwner() = default;
};

}  // namespace corolane::framework::detail
