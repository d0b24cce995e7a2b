// SPDX-License-Identifier: MIT
// Holds a task's function and result, next to its control block at the top of its stack, and the
// steps of spawning that do not depend on their types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/detail/slot.h"
#include "coroutine/detail/switcher.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine::detail {

// The value type of join() for a function that returns R: a Result<R> is not wrapped twice.
template <typename R>
struct JoinedType {
  using Value = R;
};
template <typename T>
struct JoinedType<Result<T>> {
  using Value = T;
};

// The error for a function that let an exception escape; counts and reports it.
Error stray_exception_error(TaskControl& task, const std::exception* exception);

// Report to its group that a child has ended.
void group_child_ended(TaskControl& child);
void group_child_failed(TaskControl& child, Error&& error);

template <typename F, typename T>
struct TaskFrame : TaskControl {
  template <typename G>
  TaskFrame(Switcher& owner, const Stack& own_stack, TaskGroup* group,
            const std::source_location& site, G&& body)
      : TaskControl(owner, own_stack, group, site,
                    [](TaskControl& task) { static_cast<TaskFrame&>(task).run_function(); }) {
    function.begin(std::forward<G>(body));
  }

  // Has few locals: with its caller it fits into the first two lines of the stack.
  void run_function() {
    const bool succeeded = call_function();
    // Captures and task-local values are destroyed inside the task, where it may suspend.
    function.end();
    if (has_locals) locals().destroy_all();
    if constexpr (std::is_void_v<T>) {
      if (is_member) return tell_group(succeeded);
      if (succeeded) result.begin();
    }
  }

  // Keeps the result of the function. Returns false for the error of a function without a value.
  bool call_function() {
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
        function.value();
      } else if constexpr (std::is_void_v<T>) {
        if (Result<void> outcome = function.value(); !outcome) [[unlikely]] {
          result.begin(std::move(outcome.error()));
          return false;
        }
      } else {
        result.begin(function.value());
      }
      return true;
    } catch (const std::exception& exception) {
      keep_stray_exception(&exception);
    } catch (...) {
      keep_stray_exception(nullptr);
    }
    return false;
  }

  [[gnu::noinline, gnu::cold]] void keep_stray_exception(const std::exception* exception) {
    result.begin(stray_exception_error(*this, exception));
  }

  void tell_group(bool succeeded) {
    if (succeeded) [[likely]] {
      return group_child_ended(*this);
    }
    group_child_failed(*this, std::move(result.value.error()));
    result.end();
  }

  Slot<F> function;  // Exists until it has returned.
  // Exists from then on until it is joined; in a group only the error, until it is reported.
  Slot<Result<T>> result;
};

// Makes a ready task that runs `body`. The task itself holds one reference and, unless it is the
// child of a group, the caller another.
template <typename T, typename F>
Result<TaskFrame<std::decay_t<F>, T>*> spawn_frame(std::string_view name, F&& body,
                                                   const TaskOptions& options,
                                                   const std::source_location& site,
                                                   TaskGroup* group) {
  using Frame = TaskFrame<std::decay_t<F>, T>;
  constexpr std::size_t alignment = alignof(Frame) < 64 ? 64 : alignof(Frame);
  Switcher& scheduler = Switcher::current();
  Result<Stack> acquired = TaskAccess::begin_spawn(scheduler, options);
  if (!acquired) [[unlikely]] {
    return std::move(acquired.error());
  }
  const Stack& stack = *acquired;
  check(sizeof(Frame) + sizeof(TaskTop) <= static_cast<std::size_t>(stack.top - stack.base) / 2,
        "a task's captures and result fill at most half of its stack");
  const auto end = reinterpret_cast<std::uintptr_t>(stack.top);
  const auto begin = (end - sizeof(TaskTop) - sizeof(Frame)) & ~(alignment - 1);
  std::byte* const place = stack.top - (end - begin);
#if defined(COROLANE_ASAN)
  // The previous task returned its stack before its last frames ended.
  __asan_unpoison_memory_region(place, static_cast<std::size_t>(stack.top - place));
#endif
  // Prefetches all lines to be written at once: the stores themselves would fetch line after line.
  __builtin_prefetch(place, /*rw=*/1);
  __builtin_prefetch(place + 64, /*rw=*/1);
  __builtin_prefetch(stack.top - 64, /*rw=*/1);
  Frame* frame = nullptr;
  try {
    frame = new (place) Frame(scheduler, stack, group, site, std::forward<F>(body));
  } catch (...) {
    TaskAccess::give_up_spawn(scheduler, stack);
    throw;
  }
  // This only puts a load among the stores: the processor translates the address of a page sooner
  // for a load, and all later accesses wait for that.
  *static_cast<const volatile std::uint8_t*>(&frame->flags);
  frame->set_name(name);
  TaskAccess::inherit_locals(*frame);
  TaskAccess::finish_spawn(scheduler, *frame, options.purpose);
  return frame;
}

}  // namespace corolane::coroutine::detail
