// SPDX-License-Identifier: MIT
#include "tools/corolane/run/back_off.h"

#include <algorithm>

namespace corolane::tools::cli::run {

std::optional<Duration> BackOff::failed(TimePoint at) {
  failures_.push_back(at);
  while (failures_.front() + options_.window <= at) failures_.pop_front();
  if (failures_.size() >= options_.failure_count_max) return {};
  Duration delay = options_.delay_min;
  for (std::size_t i = 1; i < failures_.size() && delay < options_.delay_max; ++i) delay *= 2;
  delay = std::min(delay, options_.delay_max);
  const auto half = static_cast<std::uint64_t>(delay.count()) / 2;
  return delay - Duration(static_cast<Duration::rep>(random_.below(half + 1)));
}

}  // namespace corolane::tools::cli::run
