// SPDX-License-Identifier: MIT
// Records what runs on a scheduler's thread, switch by switch: for a picture of some milliseconds.
//
//   SwitchTrace trace(slice_count_max);
//   if (auto recording = scheduler.record(trace)) static_cast<void>(sleep_for(200ms));
//
// A ring: the newest slices stay. While recording, each switch takes some tens of nanoseconds more;
// otherwise none does.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "coroutine/task_info.h"

namespace corolane::coroutine {

class SwitchTrace {
 public:
  struct Slice {
    std::uint64_t begin;  // From cycle_count(); it ends where the next one begins.
    TaskId task;          // Zero: the loop, or a stackless coroutine.
    std::uint8_t name_size;
    std::array<char, 31> name_text;

    std::string_view name() const { return {name_text.data(), name_size}; }
  };

  explicit SwitchTrace(std::size_t slice_count_max) : ring_(slice_count_max) {}

  // Visits the slices in order of time.
  template <typename F>
  void for_each(F&& visit) const {
    const std::uint64_t kept = std::min<std::uint64_t>(count_, ring_.size());
    for (std::uint64_t i = count_ - kept; i < count_; ++i) visit(ring_[i % ring_.size()]);
  }
  // The number of all slices, overwritten ones included.
  std::uint64_t count() const { return count_; }

  // From now on this task runs.
  void note(std::uint64_t begin, TaskId task, std::string_view name) {
    Slice& slice = ring_[count_++ % ring_.size()];
    slice.begin = begin;
    slice.task = task;
    slice.name_size = static_cast<std::uint8_t>(std::min(name.size(), slice.name_text.size()));
    std::copy_n(name.begin(), slice.name_size, slice.name_text.begin());
  }

 private:
  std::vector<Slice> ring_;
  std::uint64_t count_ = 0;
};

}  // namespace corolane::coroutine
