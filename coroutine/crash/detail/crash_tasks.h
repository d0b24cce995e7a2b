// SPDX-License-Identifier: MIT
// The tasks of a scheduler, grouped by equal stacks without allocating: for the handler of a fatal
// signal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "coroutine/base/clock.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/scheduler.h"

namespace corolane::coroutine::detail {

class CrashTasks {
 public:
  // Deeper stacks count as equal when their innermost frames are.
  static constexpr std::size_t depth_max = 48;
  static constexpr std::size_t name_count_max = 4;

  struct Group {
    std::span<const std::uintptr_t> stack() const { return std::span(addresses).first(depth); }
    // Tasks with distinct names.
    std::span<const TaskControl* const> some() const { return std::span(tasks).first(name_count); }

    std::uint64_t hash;
    std::size_t count;
    const char* waiting_for;  // Null unless suspended.
    const TaskControl* longest;
    std::array<const TaskControl*, name_count_max> tasks;
    std::array<std::uintptr_t, depth_max> addresses;
    std::uint8_t depth;
    std::uint8_t name_count;
    TaskState state;
    bool is_broken;  // The stack is corrupt.
    bool has_more_names;
  };

  // The only instance, filled anew with every task except the running one.
  static CrashTasks& gather(const Scheduler& scheduler, Duration time_max);

  // Takes the groups one by one; null when all are taken. Valid until the next call.
  const Group* take_largest();

  std::size_t task_count = 0;  // All tasks that could be counted.
  std::size_t suspended_count = 0;
  std::size_t ready_count = 0;
  std::size_t gathered_count = 0;  // In groups, and those beyond the last group.
  bool is_late = false;
  bool is_broken = false;  // The list is corrupt.

 private:
  static constexpr std::size_t group_count_max = 512;

  void gather_ready(const Scheduler& scheduler);
  void gather_others(const Scheduler& scheduler);
  void add(const TaskControl& task, const void* frame);
  Group* group_of(const Group& like);

  static CrashTasks only_;

  std::int64_t end_ns_ = 0;  // On the monotonic clock.
  std::size_t group_count_ = 0;
  Group next_ = {};   // For the task being looked at.
  Group taken_ = {};  // Returned by take_largest().
  std::array<Group, group_count_max> groups_ = {};
};

}  // namespace corolane::coroutine::detail
