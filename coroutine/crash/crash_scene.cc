// SPDX-License-Identifier: MIT
#include "coroutine/crash/crash_scene.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>

#include "coroutine/base/check.h"
#include "coroutine/crash/detail/crash_tasks.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/overflow_watch.h"
#include "coroutine/stack/detail/unwind.h"
#include "coroutine/stack/fault_guard.h"

namespace corolane::coroutine {
namespace {

using detail::CrashTasks;

// The number of groups whose stacks are shown.
constexpr std::size_t shown_count_max = 64;

void add_place(const std::source_location& place, ReportText& text) {
  text.add(place.file_name()).add(":").add(place.line());
}

void add_addresses(std::span<const std::uintptr_t> addresses, bool first_is_exact,
                   ReportText& text) {
  text.add(CrashScene::addresses_begin);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    text.add(first_is_exact && i == 0 ? " =" : " ").add_code_address(addresses[i]);
  }
  text.add("\n").flush();
}

void add_group(const CrashTasks::Group& group, TimePoint now, ReportText& text) {
  text.add(group.count).add(group.count == 1 ? " task " : " tasks ").add(to_string(group.state));
  if (group.waiting_for != nullptr) text.add(", waits for ").add(group.waiting_for);
  text.add(", for up to ").add_seconds(now - group.longest->state_since);
  text.add(" (task ").add(group.longest->top().id).add("):");
  const char* before = " ";
  for (const auto* task : group.some()) {
    text.add(before).add_name(task->name());
    before = ", ";
  }
  text.add(group.has_more_names ? ", ...\n" : "\n").add("    spawned at ");
  add_place(group.longest->top().site, text);
  text.add("\n");
  if (group.depth > 0) return add_addresses(group.stack(), /*first_is_exact=*/false, text);
  text.add(group.is_broken ? "    its stack is broken\n" : "    has no stack to show\n").flush();
}

}  // namespace

void CrashScene::prepare() {
  std::array<std::uintptr_t, 1> address;
  static_cast<void>(detail::unwind_here(address));
}

bool CrashScene::has_scheduler() { return Scheduler::current_or_null() != nullptr; }

CrashScene::RunningTask CrashScene::running_task() {
  const detail::TaskControl* const task = detail::Strand::running_task();
  if (task == nullptr) return {.id = 0, .name = {}};
  return {.id = task->top().id, .name = task->name()};
}

void CrashScene::add_running_task(const void* interrupted, ReportText& text) {
  const detail::TaskControl* const task = detail::Strand::running_task();
  if (task == nullptr) {
    text.add(has_scheduler() ? "task      none: the loop itself runs\n"
                             : "task      none: this thread has no tasks\n");
    return text.flush();
  }
  text.add("task      ").add(task->top().id).add(" ").add_name(task->name());
  text.add(", spawned at ");
  add_place(task->top().site, text);
  text.add(", ").add_seconds(task->scheduler.turn_time() - task->top().spawned_at);
  text.add(task->is_cancelled() ? " old, cancelled\n" : " old\n").flush();
  const Stack stack = task->stack();
  const std::byte* const at = detail::stack_pointer_of(interrupted);
  // The requested size; above it lies some room for the colour.
  text.add("stack     ").add(StackPool::stack_size_bytes_min << stack.size_class).add(" bytes");
  if (at >= stack.base && at < stack.top) {
    text.add(", ").add(static_cast<std::uint64_t>(stack.top - at)).add(" of them in use");
  }
  text.add("\n").flush();
}

void CrashScene::add_failed_check(ReportText& text) {
  const auto* const failed = corolane::detail::failed_check();
  if (failed == nullptr) return;
  text.add("check     ").add_name(failed->claim).add(" failed at ");
  add_place(failed->place, text);
  text.add("\n").flush();
}

void CrashScene::add_overflow(const siginfo_t& info, void* interrupted, ReportText& text) {
  const void* const address = detail::OverflowWatch::missing_address(info, interrupted);
  const detail::TaskControl* const task = detail::OverflowWatch::overflowed(address);
  if (task == nullptr) return;
  text.add("\n");
  detail::OverflowWatch::describe(*task, address, interrupted, text);
  text.add("\n").flush();
}

void CrashScene::add_stack(void* interrupted, ReportText& text) {
  std::array<std::uintptr_t, 128> addresses;
  const std::size_t depth = detail::unwind_crashed(interrupted, addresses);
  const bool is_exact = depth > 0 && addresses[0] == detail::instruction_of(interrupted);
  add_addresses(std::span(addresses).first(depth), is_exact, text);
}

void CrashScene::add_task_stacks(Duration time_max, ReportText& text) {
  const Scheduler* const scheduler = Scheduler::current_or_null();
  if (scheduler == nullptr) return;
  CrashTasks& tasks = CrashTasks::gather(*scheduler, time_max);
  text.add(tasks.task_count).add(" tasks, of which ").add(tasks.suspended_count);
  text.add(" are suspended and ").add(tasks.ready_count).add(" ready:\n").flush();
  std::size_t shown_task_count = 0;
  for (std::size_t i = 0; i < shown_count_max; ++i) {
    const auto* const group = tasks.take_largest();
    if (group == nullptr) break;
    shown_task_count += group->count;
    if (!FaultGuard::run([&] { add_group(*group, scheduler->turn_time(), text); })) {
      text.add("\n    (the data of these tasks is corrupt)\n");
    }
  }
  if (tasks.gathered_count > shown_task_count) {
    text.add(tasks.gathered_count - shown_task_count).add(" more tasks have other stacks\n");
  }
  if (tasks.is_late) text.add("(stopped at the time limit before all tasks were visited)\n");
  if (tasks.is_broken) text.add("(the list of tasks is broken: there may be more of them)\n");
  text.flush();
}

}  // namespace corolane::coroutine
