#include "coroutine/base/clock.h"

#include <utility>

namespace corolane {
namespace {

thread_local const detail::TimeSource* thread_time_source = nullptr;

}  // namespace

TimePoint now() {
  return thread_time_source != nullptr ? thread_time_source->now()
                                       : std::chrono::steady_clock::now();
}

const detail::TimeSource* detail::set_thread_time_source(const TimeSource* source) {
  return std::exchange(thread_time_source, source);
}

}  // namespace corolane
