// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/rejoin_pause.h"

#include <algorithm>

#include "net/crypto.h"

namespace corolane::framework::detail {

RejoinPause::RejoinPause(const Options& options)
    : options_(options), random_(net::seed_or_random(options.random_seed)) {}

Duration RejoinPause::after_fence() {
  const TimePoint time = now();
  if (fenced_at_ && time - *fenced_at_ >= options_.calm_time) fence_count_ = 0;
  fenced_at_ = time;
  if (++fence_count_ == 1) return Duration::zero();
  Duration longest = options_.pause_min;
  for (std::size_t i = 2; i < fence_count_ && longest < options_.pause_max; ++i) longest *= 2;
  longest = std::min(longest, options_.pause_max);
  const auto jitter = static_cast<std::uint64_t>((longest / 2).count());
  return longest - Duration(static_cast<Duration::rep>(random_.below(jitter + 1)));
}

}  // namespace corolane::framework::detail
