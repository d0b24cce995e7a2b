// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/alarm.h"

#include <algorithm>
#include <chrono>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "framework/alarms/detail/alarm_owner.h"
#include "framework/alarms/detail/alarm_runner.h"

namespace corolane::framework::detail {
namespace {

// The delay after a task that could not run: no stack was free, or the object has no owner for now.
constexpr Duration alarm_retry_interval = std::chrono::milliseconds(100);

}  // namespace

Alarm::Alarm(AlarmRunner& runner, AlarmOwner& owner, std::string_view name,
             std::size_t stack_size_bytes)
    : coroutine::Timer([](coroutine::Timer& timer) { static_cast<Alarm&>(timer).ring(); }),
      runner_(runner),
      owner_(owner),
      label_(std::string(owner.type_name()).append("/").append(name)),
      stack_size_bytes_(stack_size_bytes) {}

void Alarm::arm() { arm_at(TimePoint::min()); }

void Alarm::arm_at(TimePoint earliest) {
  if (has_ended_ || has_task_) return;
  cancel();
  const auto time = next_time();
  if (!time) return;
  coroutine::Scheduler::current().timers().arm(*this, Deadline::at(std::max(*time, earliest)));
}

void Alarm::end() {
  has_ended_ = true;
  cancel();
}

void Alarm::ring() {
  if (is_due()) {
    runner_.start(shared_from_this());
  } else {
    arm();
  }
}

void Alarm::run() {
  has_run_ = true;
  act();
}

void Alarm::begin_task() {
  check(!has_task_, "an alarm has one task at a time");
  cancel();
  has_task_ = true;
  has_run_ = false;
}

void Alarm::end_task() {
  has_task_ = false;
  if (has_ended_) return;
  arm_at(has_run_ ? TimePoint::min() : now() + alarm_retry_interval);
  if (!is_armed()) over();
}

}  // namespace corolane::framework::detail
