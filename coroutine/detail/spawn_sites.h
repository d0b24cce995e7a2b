// SPDX-License-Identifier: MIT
// Finds the record of each spawn site, and now and then measures how deep a task's stack went.
//
// Repeated spawns from one place cost one comparison (Switcher::finish_spawn()); other places are
// found in a small hash table. There are at most as many places as the program has calls of
// spawn(); beyond a limit they share one record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "coroutine/detail/spawn_site_record.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine::detail {

class SpawnSites {
 public:
  static constexpr std::size_t site_count_max = 1'000;

  // Measures the stack of the first task of each place and of one task in `measure_interval`; zero
  // switches it off.
  explicit SpawnSites(std::uint32_t measure_interval) : measure_interval_(measure_interval) {}

  // The record of the place where `task` was spawned; it never moves.
  SpawnSiteRecord& find(const TaskControl& task);
  // Measures the stack of this task, which does not run yet: nothing below its control block is in
  // use.
  void begin_measuring(TaskControl& task);

  // Called inside the task, as its last action.
  static void ended(TaskControl& task) {
    ++task.site_record->ended_count;
    if (task.stack_is_measured) [[unlikely]] {
      measure(task);
    }
  }

  // In the order of their first spawn.
  std::vector<SpawnSite> all() const;

 private:
  static constexpr std::size_t bucket_count = 2'048;  // A power of two, above site_count_max.

  static void measure(const TaskControl& task);

  std::uint32_t measure_interval_;
  std::deque<SpawnSiteRecord> records_;  // Tasks point to them.
  // One more than the index of a record; zero where there is none.
  std::array<std::uint16_t, bucket_count> buckets_{};
};

}  // namespace corolane::coroutine::detail
