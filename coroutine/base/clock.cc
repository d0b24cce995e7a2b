#include "coroutine/base/clock.h"

#include <utility>

namespace corolane {
namespace {

thread_local const detail::TimeSource* source_of_thread = nullptr;

}  // namespace

TimePoint now() {
  return source_of_thread != nullptr ? source_of_thread->now() : std::chrono::steady_clock::now();
}

std::chrono::sys_time<Duration> time_of_day() {
  return source_of_thread != nullptr ? source_of_thread->time_of_day()
                                     : std::chrono::system_clock::now();
}

std::chrono::sys_time<Duration> detail::TimeSource::time_of_day() const {
  return std::chrono::system_clock::now();
}

bool detail::TimeSource::fill_with_seeded_bytes(std::span<std::byte> /*bytes*/) const {
  return false;
}

const detail::TimeSource* detail::thread_time_source() { return source_of_thread; }

const detail::TimeSource* detail::set_thread_time_source(const TimeSource* source) {
  return std::exchange(source_of_thread, source);
}

}  // namespace corolane
