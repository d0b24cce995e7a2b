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
  // Deeper stacks are equal when their innermost frames are.
  static constexpr std::size_t depth_max = 48;
  static constexpr std::size_t name_count_max = 4;

  struct Group {
    std::span<const std::uintptr_t> stack() const { return std::span(addresses).first(depth); }
    // With different names.
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
    bool is_broken;  // The stack.
    bool has_more_names;
  };

  // The only one there is, filled anew. Every task but the one that runs.
  static CrashTasks& gather(const Scheduler& scheduler, Duration time_max);

  // One after the other; null when all were taken. Good until the next one.
  const Group* take_largest();

  std::size_t task_count = 0;  // All, as far as they were counted.
  std::size_t suspended_count = 0;
  std::size_t ready_count = 0;
  std::size_t gathered_count = 0;  // In groups, and those for which there was no group left.
  bool is_late = false;
  bool is_broken = false;  // The list.

 private:
  static constexpr std::size_t group_count_max = 512;

  void gather_ready(const Scheduler& scheduler);
  void gather_others(const Scheduler& scheduler);
  void add(const TaskControl& task, const void* frame);
  Group* group_of(const Group& like);

  static CrashTasks only_;

  std::int64_t end_ns_ = 0;  // Of the monotonic clock.
  std::size_t group_count_ = 0;
  Group next_ = {};   // Of the task that is being looked at.
  Group taken_ = {};  // By take_largest().
  std::array<Group, group_count_max> groups_ = {};
};

}  // namespace corolane::coroutine::detail
