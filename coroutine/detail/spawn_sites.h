// Counts the tasks of each spawn site, and now and then measures how deep a task's stack went.
//
// Every spawn passes through here, so repeated spawns from one place cost one comparison, and other
// places are found in a small hash table. There are at most as many places as the program has calls
// of spawn(); beyond a limit they share one record.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <source_location>
#include <string>
#include <vector>

#include "coroutine/detail/task_control.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine::detail {

struct SpawnSiteRecord {
  std::source_location place;
  std::uint64_t spawned_count = 0;
  std::uint64_t ended_count = 0;
  std::uint64_t measured_next = 1;  // The number of the task whose stack is measured next.
  std::uint64_t measured_count = 0;
  std::size_t stack_size_bytes = 0;
  std::size_t stack_used_bytes_max = 0;
  CpuTime cpu;
  std::string task_name;
};

class SpawnSites {
 public:
  static constexpr std::size_t site_count_max = 1'000;

  // Measures the stack of the first task of each place and of one task in `measure_interval`; zero
  // switches it off.
  explicit SpawnSites(std::uint32_t measure_interval) : measure_interval_(measure_interval) {}

  // Called before the task runs: nothing below its control block is in use.
  void spawned(TaskControl& task) {
    if (newest_ == nullptr || key_of(newest_->place) != key_of(task.top().site)) {
      newest_ = &find(task);
    }
    SpawnSiteRecord& record = *newest_;
    task.site_record = &record;
    if (++record.spawned_count == record.measured_next) [[unlikely]] {
      begin_measuring(task);
    }
  }

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

  // In libstdc++ a source_location is one pointer, to a constant of the program: one for each call
  // of spawn(). Code in a header has one, and so a row, for each source file whose copies the
  // linker does not merge.
  static std::uintptr_t key_of(const std::source_location& place) {
    static_assert(sizeof(place) == sizeof(std::uintptr_t));
    return std::bit_cast<std::uintptr_t>(place);
  }

  SpawnSiteRecord& find(const TaskControl& task);
  void begin_measuring(TaskControl& task);
  static void measure(const TaskControl& task);

  std::uint32_t measure_interval_;
  SpawnSiteRecord* newest_ = nullptr;    // The place of the last spawn.
  std::deque<SpawnSiteRecord> records_;  // Tasks point to them: they never move.
  // One more than the index of a record; zero where there is none.
  std::array<std::uint16_t, bucket_count> buckets_{};
};

}  // namespace corolane::coroutine::detail
