// The control block of a task: lies at the top of the task's own stack, so that creating a task
// allocates nothing.
//
//   | stack proper | TaskControl | function, result | ... | TaskTop |
//                  ^ a multiple of 64                               ^ the top of the stack
//
// Of tens of thousands of tasks none is in the cache: beginning and ending touch the first two
// lines, which hold a small function, too (task_frame.h). The last one is only written, for those
// who will ask about the task.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <source_location>
#include <string_view>
#include <type_traits>

#include "coroutine/base/clock.h"
#include "coroutine/detail/cpu_meter.h"
#include "coroutine/detail/list.h"
#include "coroutine/detail/slot.h"
#include "coroutine/detail/task_locals.h"
#include "coroutine/stack/detail/context.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/task_info.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {
class Scheduler;
class TaskGroup;
}  // namespace corolane::coroutine

namespace corolane::coroutine::detail {

struct SpawnSiteRecord;
struct TaskControl;

// The first cache line of a control block: what waiting and waking touch.
struct TaskHead : Context {
  using Run = void (*)(TaskControl& task);

  TaskHead(Scheduler& owner, TimePoint now, const Stack& stack, bool of_group, Run run_it)
      : is_member(of_group),
        stack_size_class(static_cast<std::uint8_t>(stack.size_class)),
        state_since(now),
        scheduler(owner),
        run(run_it) {}

  // Why the task may not simply suspend.
  static constexpr std::uint8_t cancelled_flag = 1;
  static constexpr std::uint8_t no_suspend_flag = 2;  // Only the running task sets it.
  // Above these flags: how many of its parts are cancelled and have not ended.
  static constexpr std::uint8_t cancelled_part_unit = 4;

  std::uint8_t flags = 0;
  TaskState state = TaskState::ready;  // Also while it runs.
  bool has_begun = false;
  bool is_member;                  // Of a group, rather than owned by a handle.
  bool has_locals = false;         // Values of its own: TaskTop::locals has begun.
  bool stack_is_measured = false;  // See SpawnSites.
  // One for the running task, one for a handle that has not given it up.
  std::uint8_t reference_count = 1;
  std::uint8_t stack_size_class;
  const char* waiting_for = nullptr;  // Null unless suspended in a wait.
  Wait* wait = nullptr;               // The one that cancel() may end.
  TimePoint state_since;
  Scheduler& scheduler;
  // Calls the task's function and keeps its result; nothing escapes it.
  Run run;
  SpawnSiteRecord* site_record;
};

// Of the child of a group.
struct Membership : ListNode<struct MembershipTag> {
  Membership(TaskGroup& its_group, TaskControl& its_task) : group(its_group), task(its_task) {}

  TaskGroup& group;
  TaskControl& task;
};

// The last on the stack of each task: its values, and who it is.
struct TaskTop {
  TaskTop(TimePoint now, const std::source_location& place) : spawned_at(now), site(place) {}

  Slot<TaskLocals> locals;
  TaskLocals* current_locals;  // Those, or of the part that runs. Valid when it has any.
  TaskId id;                   // Not before everything that may throw is done.
  TimePoint spawned_at;
  std::source_location site;
  CpuTime cpu;
  static constexpr std::size_t name_size_max = 31;
  std::array<char, name_size_max> name_text;
  std::uint8_t name_size;  // Set with the name, soon after.
};

struct TaskControl : TaskHead, ListNode<struct AllTasksTag> {
  // `group` is null for a task that has a handle.
  TaskControl(Scheduler& owner, const Stack& own_stack, TaskGroup* group,
              const std::source_location& site, Run run_it);
  ~TaskControl() {}  // NOLINT(modernize-use-equals-default): of the union.

  // Marks the task cancelled and ends its wait, if that wait observes cancellation.
  void cancel();
  // One of its parts, SubTask, is cancelled, in the same way; or has ended.
  void cancel_part();
  void end_cancelled_part();
  bool is_cancelled() const { return (flags & ~no_suspend_flag) != 0; }
  // Scheduler::flagged_count_ follows.
  void set_flag(std::uint8_t flag);
  void clear_flag(std::uint8_t flag);
  std::string_view name() const { return {top().name_text.data(), top().name_size}; }
  void set_name(std::string_view name);

  // A task has an owner of one of two kinds: a group, or a handle that others may join through.
  union {
    Membership membership;
    WaitQueue joiners;
  };
  std::byte* const stack_top;

  Stack stack() const { return StackPool::stack_at(stack_top, stack_size_class); }
  TaskTop& top() const { return *reinterpret_cast<TaskTop*>(stack_top - sizeof(TaskTop)); }
  // When it has any.
  TaskLocals& locals() const { return *top().current_locals; }
  TaskLocals& begin_locals();
};

inline TaskLocals& TaskControl::begin_locals() {
  if (!has_locals) {
    top().locals.begin();
    top().current_locals = &top().locals.value;
    has_locals = true;
  }
  return locals();
}

// In two pieces of a fixed size that may overlap: a call of memcpy for a few bytes would cost as
// much as all the rest of the control block.
[[gnu::always_inline]] inline void TaskControl::set_name(std::string_view name) {
  const std::size_t size = std::min(name.size(), TaskTop::name_size_max);
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
