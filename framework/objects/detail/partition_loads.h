// SPDX-License-Identifier: MIT
// How much the objects of one type compute on one shard, by partition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/cpu_time.h"
#include "framework/wire/partition.h"

namespace corolane::framework::detail {

class PartitionLoads {
 public:
  explicit PartitionLoads(std::size_t partition_count)
      : cpu_(partition_count), seen_(partition_count), cores_(partition_count) {}

  // Called in a signal handler of the shard's thread.
  void charge(Partition partition, std::uint64_t nanoseconds) { cpu_[partition].add(nanoseconds); }

  // Since the start.
  Duration cpu(Partition partition) const { return cpu_[partition].sum(); }
  // In the time between the last two looks, in cores: 1 is what one thread can compute.
  double cores(Partition partition) const { return cores_[partition]; }

  // Ends a period that has lasted for `time`.
  void look(Duration time) {
    const auto whole = static_cast<float>(std::max(time, Duration(1)).count());
    for (std::size_t i = 0; i < cpu_.size(); ++i) {
      const Duration sum = cpu_[i].sum();
      cores_[i] = static_cast<float>((sum - seen_[i]).count()) / whole;
      seen_[i] = sum;
    }
  }

 private:
  std::vector<coroutine::CpuTime> cpu_;
  std::vector<Duration> seen_;
  std::vector<float> cores_;
};

}  // namespace corolane::framework::detail
