// SPDX-License-Identifier: MIT
// The last reading of each clock: a recording stores the differences, which are small.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "framework/recording/recording.pb.h"

namespace corolane::framework::recording {

class ClockMarks {
 public:
  // Encodes a reading as an entry.
  Entry to_entry(Entry::WhatCase clock, std::int64_t shown) {
    Entry entry;
    std::int64_t& mark = marks_[static_cast<std::size_t>(clock)];
    const std::int64_t difference = shown - mark;
    mark = shown;
    switch (clock) {
      case Entry::kTime:
        entry.set_time(difference);
        break;
      case Entry::kBootTime:
        entry.set_boot_time(difference);
        break;
      case Entry::kTimeOfDay:
        entry.set_time_of_day(difference);
        break;
      default:
        entry.set_process_id(static_cast<std::uint64_t>(shown));
    }
    return entry;
  }

  // Decodes an entry to a reading.
  std::int64_t shown(const Entry& entry) {
    switch (entry.what_case()) {
      case Entry::kTime:
        return marks_[Entry::kTime] += entry.time();
      case Entry::kBootTime:
        return marks_[Entry::kBootTime] += entry.boot_time();
      case Entry::kTimeOfDay:
        return marks_[Entry::kTimeOfDay] += entry.time_of_day();
      default:
        return static_cast<std::int64_t>(entry.process_id());
    }
  }

 private:
  std::array<std::int64_t, Entry::kProcessId + 1> marks_{};
};

}  // namespace corolane::framework::recording
