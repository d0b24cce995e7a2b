// SPDX-License-Identifier: MIT
// How much the objects of one type compute on one shard, by partition.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "coroutine/base/clock.h"
#include "coroutine/cpu_time.h"
#include "framework/wire/partition.h"

namespace corolane::framework::detail {

class PartitionLoads {
 public:
  // Called in a signal handler of the shard's thread.
  void charge(Partition partition, std::uint64_t nanoseconds) { cpu_[partition].add(nanoseconds); }

  // Since the start.
  Duration cpu(Partition partition) const { return cpu_[partition].sum(); }
  // In the time between the last two looks, in cores: 1 is what one thread can compute.
  double cores(Partition partition) const { return cores_[partition]; }

  // Ends a period that has lasted for `time`.
  void look(Duration time) {
    const auto whole = static_cast<float>(std::max(time, Duration(1)).count());
    for (std::size_t i = 0; i < partition_count; ++i) {
      const Duration sum = cpu_[i].sum();
      cores_[i] = static_cast<float>((sum - seen_[i]).count()) / whole;
      seen_[i] = sum;
    }
  }

 private:
  std::array<coroutine::CpuTime, partition_count> cpu_;
  std::array<Duration, partition_count> seen_{};
  std::array<float, partition_count> cores_{};
};

}  // namespace corolane::framework::detail
