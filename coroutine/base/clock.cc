// SPDX-License-Identifier: MIT
#include "coroutine/base/clock.h"

#include <time.h>
#include <unistd.h>

#include <utility>

#include "coroutine/base/check.h"

namespace corolane {
namespace {

thread_local const detail::TimeSource* source_of_thread = nullptr;

TimePoint system_boot_time() {
  timespec time{};
  check(clock_gettime(CLOCK_BOOTTIME, &time) == 0, "Linux has this clock since 2.6.39");
  return TimePoint(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace

TimePoint now() {
  return source_of_thread != nullptr ? source_of_thread->now() : std::chrono::steady_clock::now();
}

std::chrono::sys_time<Duration> time_of_day() {
  return source_of_thread != nullptr ? source_of_thread->time_of_day()
                                     : std::chrono::system_clock::now();
}

pid_t process_id() {
  return source_of_thread != nullptr ? source_of_thread->process_id() : ::getpid();
}

TimePoint boot_time() {
  return source_of_thread != nullptr ? source_of_thread->boot_time() : system_boot_time();
}

TimePoint detail::TimeSource::boot_time() const { return system_boot_time(); }

std::chrono::sys_time<Duration> detail::TimeSource::time_of_day() const {
  return std::chrono::system_clock::now();
}

pid_t detail::TimeSource::process_id() const { return ::getpid(); }

bool detail::TimeSource::draw(std::span<std::byte> /*bytes*/) const { return false; }

const detail::TimeSource* detail::thread_time_source() { return source_of_thread; }

const detail::TimeSource* detail::set_thread_time_source(const TimeSource* source) {
  return std::exchange(source_of_thread, source);
}

}  // namespace corolane
