// SPDX-License-Identifier: MIT
// The control block of a task: it lies at the top of the task's own stack, so that creating a task
// allocates nothing.
//
//   | stack proper | TaskControl | function, result | ... | TaskTop |
//                  ^ a multiple of 64                               ^ the top of the stack
//
// With tens of thousands of tasks none is in the cache: beginning and ending touch the first two
// lines, which also hold a small function (task_frame.h). The last line is only written, for later
// introspection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <source_location>
#include <string_view>
#include <type_traits>

#include "coroutine/base/clock.h"
#include "coroutine/cpu_time.h"
#include "coroutine/detail/list.h"
#include "coroutine/detail/slot.h"
#include "coroutine/detail/task_locals.h"
#include "coroutine/stack/detail/context.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/task_info.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {
class TaskGroup;
}  // namespace corolane::coroutine

namespace corolane::coroutine::detail {

class Switcher;
struct SpawnSiteRecord;
struct TaskControl;

// The first cache line of a control block: the members that waiting and waking touch.
struct TaskHead : Context {
  using Run = void (*)(TaskControl& task);

  TaskHead(Switcher& owner, TimePoint now, const Stack& stack, bool of_group, Run run_it)
      : is_member(of_group),
        stack_size_class(static_cast<std::uint8_t>(stack.size_class)),
        state_since(now),
        scheduler(owner),
        run(run_it) {}

  // Reasons why the task may not simply suspend.
  static constexpr std::uint8_t cancelled_flag = 1;
  static constexpr std::uint8_t no_suspend_flag = 2;      // Only the running task sets it.
  static constexpr std::uint8_t cancelled_part_flag = 4;  // Some parts that have not ended.
  // Parts begun since the last suspension have deadlines: the next one arms their timers. Only
  // while the task runs.
  static constexpr std::uint8_t late_timers_flag = 8;

  std::uint8_t flags = 0;
  TaskState state = TaskState::ready;  // Also while the task runs.
  bool has_begun = false;
  bool is_member : 1;                  // Belongs to a group instead of a handle.
  bool is_control : 1 = false;         // Control work, which runs first; set by spawning.
  bool stack_is_measured : 1 = false;  // See SpawnSites.
  std::uint8_t cancelled_part_count = 0;
  bool has_locals = false;  // Has values of its own: TaskTop::locals has begun.
  // One for the running task, one for the handle until that gives it up.
  std::uint8_t reference_count = 1;
  std::uint8_t stack_size_class;
  const char* waiting_for = nullptr;  // Null unless suspended in a wait.
  Wait* wait = nullptr;               // The present wait; null also for one that must not be cut.
  TimePoint state_since;
  Switcher& scheduler;
  // Calls the task's function and keeps its result; no exception escapes.
  Run run;
  SpawnSiteRecord* site_record;
};

// The membership of a group's child.
struct Membership : ListNode<struct MembershipTag> {
  Membership(TaskGroup& its_group, TaskControl& its_task) : group(its_group), task(its_task) {}

  TaskGroup& group;
  TaskControl& task;
};

// The last object on the stack of each task: its values and its identity.
struct TaskTop {
  TaskTop(TimePoint now, const std::source_location& place) : spawned_at(now), site(place) {}

  Slot<TaskLocals> locals;
  TaskLocals* current_locals;  // `locals`, or those of the running part. Valid when it has any.
  // From here on all is written when the task is spawned, and lies in the last line of the stack.
  alignas(16) TaskId id;  // Set once nothing can throw any more.
  TimePoint spawned_at;
  std::source_location site;
  CpuTime cpu;
  static constexpr std::size_t name_size_max = 31;
  std::array<char, name_size_max> name_text;
  std::uint8_t name_size;  // Set with the name, shortly after construction.
};
static_assert(sizeof(TaskTop) - offsetof(TaskTop, id) <= 64);

struct TaskControl : TaskHead, ListNode<struct AllTasksTag> {
  // `group` is null for a task that has a handle.
  TaskControl(Switcher& owner, const Stack& own_stack, TaskGroup* group,
              const std::source_location& site, Run run_it);
  ~TaskControl() {}  // NOLINT(modernize-use-equals-default): of the union.

  // Marks the task cancelled and ends its wait, if that wait observes cancellation.
  void cancel();
  // One of its parts, CancelScope, is cancelled, in the same way; or has ended.
  void cancel_part();
  void end_cancelled_part();
  bool is_cancelled() const { return (flags & (cancelled_flag | cancelled_part_flag)) != 0; }
  // Also update Switcher::flagged_count_.
  inline void set_flag(std::uint8_t flag);
  inline void clear_flag(std::uint8_t flag);
  std::string_view name() const { return {top().name_text.data(), top().name_size}; }
  void set_name(std::string_view name);

  // A task has one of two kinds of owner: a group, or a handle through which other tasks may join.
  union {
    Membership membership;
    WaitQueue joiners;
  };
  std::byte* const stack_top;

  Stack stack() const { return StackPool::stack_at(stack_top, stack_size_class); }
  TaskTop& top() const { return *reinterpret_cast<TaskTop*>(stack_top - sizeof(TaskTop)); }
  // There must be some.
  TaskLocals& locals() const { return *top().current_locals; }
  TaskLocals& begin_locals();
};

// Arms the timers of the running task's parts (CancelScope).
void arm_late_timers(TaskControl& task);

inline TaskLocals& TaskControl::begin_locals() {
  if (!has_locals) {
    top().locals.begin();
    top().current_locals = &top().locals.value;
    has_locals = true;
  }
  return locals();
}

// Copies two pieces of a fixed size that may overlap: a call of memcpy for a few bytes would cost
// as much as the whole rest of the control block.
[[gnu::always_inline]] inline void TaskControl::set_name(std::string_view name) {
  const std::size_t size =
      name.size() < TaskTop::name_size_max ? name.size() : TaskTop::name_size_max;
  auto& name_text = top().name_text;
  top().name_size = static_cast<std::uint8_t>(size);
  const auto copy = [&]<std::size_t piece>(std::integral_constant<std::size_t, piece>) {
    std::memcpy(name_text.data(), name.data(), piece);
    std::memcpy(name_text.data() + size - piece, name.data() + size - piece, piece);
  };
  if (size >= 16) {
    copy(std::integral_constant<std::size_t, 16>());
  } else if (size >= 8) {
    copy(std::integral_constant<std::size_t, 8>());
  } else if (size >= 4) {
    copy(std::integral_constant<std::size_t, 4>());
  } else if (size > 0) {
    name_text[0] = name.front();
    name_text[size / 2] = name[size / 2];
    name_text[size - 1] = name[size - 1];
  }
}

}  // namespace corolane::coroutine::detail
