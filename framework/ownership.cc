#include "framework/ownership.h"

#include <time.h>

#include <chrono>

#include "coroutine/base/check.h"

namespace corolane::framework {

TimePoint boot_time() {
  timespec time{};
  check(clock_gettime(CLOCK_BOOTTIME, &time) == 0, "Linux has this clock since 2.6.39");
  return TimePoint(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace corolane::framework
