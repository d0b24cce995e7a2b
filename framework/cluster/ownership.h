// SPDX-License-Identifier: MIT
// The partitions that this node owns, and the time until which it may rely on that.
//
//   const auto epoch = ownership.epoch(partition);
//   auto reply = look_up(id);
//   if (!ownership.holds(partition, epoch)) return Error(Code::aborted, "no longer ours");
//   return reply;
//
// One shard follows the directory and writes it; all shards read it, for every call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "coroutine/base/clock.h"
#include "framework/wire/partition.h"

namespace corolane::framework {

// The time until which this node may act as an owner, on a clock that advances while the machine
// sleeps. It may be later than the end of the lease: then the store proves each reply (README.md,
// "Without the directory").
class Fence {
 public:
  using Clock = TimePoint (*)();

  // A simulation has its own clock.
  explicit Fence(Clock clock = boot_time) : clock_(clock) {}

  // False when the node serves nothing any more.
  bool is_in_time() const {
    const TimePoint end = at();
    return end == TimePoint::max() || clock_() < end;
  }
  bool is_never() const { return at() == TimePoint::max(); }
  // False when the node has not heard from the directory for so long that other nodes may own its
  // partitions.
  bool has_lease() const {
    const TimePoint end = lease_end();
    return end == TimePoint::max() || clock_() < end;
  }
  // The time until the fence falls, unless it never does; zero when it has fallen.
  Duration time_left() const {
    return is_in_time() ? std::max(at() - clock_(), Duration::zero()) : Duration::zero();
  }
  TimePoint at() const { return TimePoint(Duration(at_.load(std::memory_order_acquire))); }
  TimePoint lease_end() const {
    return TimePoint(Duration(lease_end_.load(std::memory_order_acquire)));
  }
  TimePoint clock_now() const { return clock_(); }

  // `time` is TimePoint::max(), never, when there is no other node.
  void set(TimePoint time) {
    lease_end_.store(time.time_since_epoch().count(), std::memory_order_release);
    at_.store(time.time_since_epoch().count(), std::memory_order_release);
  }
  // The lease is valid until `time`, unless it was valid for longer already.
  void extend_lease(TimePoint time);
  // The node serves until `time`, with a lease or without. Nothing when the fence has fallen.
  void serve_until(TimePoint time);

  // A node whose fence has fallen waits for these steps, in their order, before it joins again.
  enum class DropStep : std::uint8_t { hand_over, objects };
  struct Drop {
    TimePoint since;
    DropStep step;
  };
  // The fence falls at once, and the node begins to drop what it owned: a hand-over that is under
  // way ends first. When it has fallen already, this changes nothing.
  void fall();
  void begin_step(DropStep step) { drop_step_.store(step, std::memory_order_relaxed); }
  // The fence falls, and the node owns nothing any more.
  void rest();
  // Nothing unless the node is between fall() and rest(). Every other step of its life has a limit;
  // this one waits for handlers and shards, so a watchdog looks at it.
  std::optional<Drop> drop() const;

 private:
  static constexpr Duration::rep never = TimePoint::max().time_since_epoch().count();

  const Clock clock_;
  // The node may not act as an owner until set() is called.
  std::atomic<Duration::rep> at_ = TimePoint::min().time_since_epoch().count();
  std::atomic<Duration::rep> lease_end_ = TimePoint::min().time_since_epoch().count();
  std::atomic<Duration::rep> drops_since_ = never;
  std::atomic<DropStep> drop_step_ = DropStep::hand_over;
};

inline void Fence::extend_lease(TimePoint time) {
  const TimePoint end = std::max(lease_end(), time);
  lease_end_.store(end.time_since_epoch().count(), std::memory_order_release);
  at_.store(std::max(at(), end).time_since_epoch().count(), std::memory_order_release);
}

inline void Fence::serve_until(TimePoint time) {
  if (at() == TimePoint::min()) return;
  at_.store(std::max(at(), time).time_since_epoch().count(), std::memory_order_release);
}

inline void Fence::fall() {
  set(TimePoint::min());
  if (drops_since_.load(std::memory_order_relaxed) != never) return;
  begin_step(DropStep::hand_over);
  drops_since_.store(clock_().time_since_epoch().count(), std::memory_order_release);
}

inline void Fence::rest() {
  set(TimePoint::min());
  drops_since_.store(never, std::memory_order_release);
}

inline std::optional<Fence::Drop> Fence::drop() const {
  const Duration::rep since = drops_since_.load(std::memory_order_acquire);
  if (since == never) return std::nullopt;
  return Drop{.since = TimePoint(Duration(since)),
              .step = drop_step_.load(std::memory_order_relaxed)};
}

// The ownership of the partitions of one placement.
class Ownership {
 public:
  using Epoch = std::uint64_t;

  // `fence` outlives it.
  explicit Ownership(const Fence& fence, std::size_t partition_count = partition_count_min)
      : fence_(fence), epochs_(partition_count) {}

  std::size_t partition_count() const { return epochs_.size(); }

  // The epoch of this node's ownership of that partition: larger at each change of owner. 0: it is
  // not ours.
  Epoch epoch(Partition partition) const {
    return epochs_[partition].load(std::memory_order_acquire);
  }
  void set_epoch(Partition partition, Epoch epoch) {
    epochs_[partition].store(epoch, std::memory_order_release);
  }
  // Whether that ownership is valid right now. Ask before giving out anything that only an owner
  // knows; without a lease, ask the store, too.
  bool holds(Partition partition, Epoch epoch) const {
    return this->epoch(partition) == epoch && epoch != 0 && fence_.is_in_time();
  }
  // The number of partitions that this node owns.
  std::size_t owned_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(epochs_, [](const auto& epoch) { return epoch.load() != 0; }));
  }
  const Fence& fence() const { return fence_; }

 private:
  const Fence& fence_;
  std::vector<std::atomic<Epoch>> epochs_;
};

}  // namespace corolane::framework
