// SPDX-License-Identifier: MIT
#include "framework/objects/detail/object_alarms.h"

#include "coroutine/cancel_scope.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"

namespace corolane::framework::detail {
namespace {

// Longer than any useful reminder keeps callers waiting.
constexpr Duration reminder_time_max = std::chrono::seconds(30);

}  // namespace

std::string_view ObjectAlarms::type_name() const { return cell_.type().name(); }

const std::string& ObjectAlarms::id() const { return cell_.id(); }

AlarmCounts& ObjectAlarms::counts() { return cell_.type().counts.alarms; }

bool ObjectAlarms::is_transient() const { return cell_.type().is_transient(); }

void ObjectAlarms::mark_changed() { cell_.mark_changed(); }

void ObjectAlarms::save_now() { static_cast<void>(cell_.type().host().save_now(cell_)); }

Result<void> ObjectAlarms::remind(const Reminder& reminder) {
  const coroutine::CancelScope part(Deadline::after(reminder_time_max));
  return cell_.type().host().without_exceptions(
      cell_, std::string(cell_.type().name()) + "/on_reminder",
      [&] { return cell_.object().on_reminder(reminder); });
}

}  // namespace corolane::framework::detail
