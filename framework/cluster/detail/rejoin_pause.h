// SPDX-License-Identifier: MIT
// The pause between a fence and the next join. A node that is overloaded would otherwise flap: it
// joins, gets its share of the partitions, is too slow for its lease, and each round costs the
// callers of those partitions some seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "coroutine/base/clock.h"
#include "coroutine/base/split_mix.h"

namespace corolane::framework::detail {

class RejoinPause {
 public:
  struct Options {
    // After the first fence there is none: most nodes are fenced by one outage that is over. After
    // the second it is the minimum, and it doubles up to the maximum, with jitter over the upper
    // half, so that nodes that were fenced together do not come back together.
    Duration pause_min = std::chrono::seconds(1);
    Duration pause_max = std::chrono::minutes(1);
    // A fence this long after the one before counts as a first one. It is longer than the longest
    // pause and the life of a node that is fenced at once, or there would be no second one.
    Duration calm_time = std::chrono::minutes(5);
    // How often a node that waits looks at the cluster: it keeps its view fresh for the clients
    // that it still has, and joins at once when all other members were fenced, too.
    Duration look_interval = std::chrono::seconds(1);
    // Seeds the jitter; 0 takes a seed from the system.
    std::uint64_t random_seed = 0;
  };

  explicit RejoinPause(const Options& options);

  // The pause after a fence that falls now.
  Duration after_fence();
  // The fences so far, each within the calm time after the one before.
  std::size_t fence_count() const { return fence_count_; }

 private:
  const Options options_;
  SplitMix64 random_;
  std::optional<TimePoint> fenced_at_;
  std::size_t fence_count_ = 0;
};

}  // namespace corolane::framework::detail
