// SPDX-License-Identifier: MIT
// Profiles the CPU time of a scheduler's thread: samples of its stacks, by coroutine.
//
//   CpuProfile profile(sample_count_max);
//   if (auto recording = scheduler.record(profile)) static_cast<void>(sleep_for(5s));
//
// The signal handler of the CPU meter takes a sample at each kernel tick (cpu_meter.h): every 1 to
// 10 ms of CPU time. So an idle thread costs nothing, and a busy one some microseconds per tick.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string_view>

#include "coroutine/base/clock.h"

namespace corolane::coroutine {

namespace detail {
struct TaskControl;
}

class CpuProfile {
 public:
  class Sample {
   public:
    // The task that ran; empty while the loop itself ran.
    std::string_view task_name() const { return {name_.data(), name_size_}; }
    // Innermost first, as in a StackTrace. Empty when the stack could not be walked.
    std::span<const std::uintptr_t> addresses() const {
      return std::span(addresses_).first(depth_);
    }
    Duration cpu() const { return cpu_; }

   private:
    friend class CpuProfile;

    Duration cpu_{};
    std::array<char, 32> name_;
    std::uint8_t name_size_ = 0;
    std::uint8_t depth_ = 0;
    std::array<std::uintptr_t, 64> addresses_;
  };

  // Has room for `sample_count_max` samples; further ones are only counted.
  explicit CpuProfile(std::size_t sample_count_max)
      : room_(std::make_unique_for_overwrite<Sample[]>(sample_count_max)),
        count_max_(sample_count_max) {}

  std::span<const Sample> samples() const { return {room_.get(), count_}; }
  std::size_t lost_count() const { return lost_count_; }

  // Called in the signal handler, whose third argument is `context`. Async-signal-safe. `running`
  // may be null.
  void add(Duration cpu, const void* context, const detail::TaskControl* running);

 private:
  std::unique_ptr<Sample[]> room_;
  std::size_t count_max_;
  std::size_t count_ = 0;
  std::size_t lost_count_ = 0;
};

}  // namespace corolane::coroutine
