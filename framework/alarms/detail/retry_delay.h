// SPDX-License-Identifier: MIT
// The pause after a failed run of work that an object repeats until it succeeds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "coroutine/base/clock.h"

namespace corolane::framework::detail {

// A second at first; it doubles with each further failure, up to a minute.
inline Duration retry_delay(std::uint32_t failed_count) {
  constexpr Duration min = std::chrono::seconds(1);
  constexpr Duration max = std::chrono::minutes(1);
  constexpr std::uint32_t doubling_count_max = 6;
  return std::min(max, min * (1 << std::min(failed_count - 1, doubling_count_max)));
}

}  // namespace corolane::framework::detail
