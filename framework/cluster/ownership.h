// Which partitions this node owns, and until when it may believe so.
//
// Written by whoever follows the directory, on one shard; read on all of them, for every call.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coroutine/base/clock.h"
#include "framework/wire/partition.h"

namespace corolane::framework {

// Until when this node may speak for what it owns. By a clock that goes on while the machine
// sleeps.
class Fence {
 public:
  using Clock = TimePoint (*)();

  // Simulation has a clock of its own.
  explicit Fence(Clock clock = boot_time) : clock_(clock) {}

  // False when the node has not heard of the directory for so long that others may own what it
  // owned.
  bool is_in_time() const {
    const TimePoint end = at();
    return end == TimePoint::max() || clock_() < end;
  }
  bool is_never() const { return at() == TimePoint::max(); }
  // Until it falls, when that is not never; zero when it has fallen.
  Duration time_left() const {
    return is_in_time() ? std::max(at() - clock_(), Duration::zero()) : Duration::zero();
  }
  TimePoint at() const { return TimePoint(Duration(at_.load(std::memory_order_acquire))); }
  TimePoint clock_now() const { return clock_(); }

  // Never, TimePoint::max(), when there is no other node.
  void set(TimePoint time) {
    at_.store(time.time_since_epoch().count(), std::memory_order_release);
  }

 private:
  const Clock clock_;
  // May say nothing until told otherwise.
  std::atomic<Duration::rep> at_ = TimePoint::min().time_since_epoch().count();
};

// Of the partitions of one placement.
class Ownership {
 public:
  using Epoch = std::uint64_t;

  // `fence` outlives it.
  explicit Ownership(const Fence& fence) : fence_(fence) {}

  // Of our ownership of that partition: larger at each change of its owner. 0: it is not ours.
  Epoch epoch(Partition partition) const {
    return epochs_[partition].load(std::memory_order_acquire);
  }
  void set_epoch(Partition partition, Epoch epoch) {
    epochs_[partition].store(epoch, std::memory_order_release);
  }
  // Whether that ownership stands, at this very moment: to be asked before anybody is told
  // anything that an owner alone knows.
  bool holds(Partition partition, Epoch epoch) const {
    return this->epoch(partition) == epoch && epoch != 0 && fence_.is_in_time();
  }
  // How many are ours.
  std::size_t owned_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(epochs_, [](const auto& epoch) { return epoch.load() != 0; }));
  }
  const Fence& fence() const { return fence_; }

 private:
  const Fence& fence_;
  std::array<std::atomic<Epoch>, partition_count> epochs_{};
};

}  // namespace corolane::framework
