// SPDX-License-Identifier: MIT
#include "coroutine/stack_meter.h"

#include <bit>
#include <utility>

#include "coroutine/detail/task_access.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/detail/stack_depth.h"

namespace corolane::coroutine {
namespace {

// The stack use of the functions that blank the rest.
constexpr std::size_t own_use_bytes = 2048 * detail::stack_size_factor;

}  // namespace

StackMeter::StackMeter() {
  detail::TaskControl* const task = detail::TaskAccess::running_or_null();
  if (task == nullptr || task->stack_is_measured) return;
  std::byte* const base = task->stack().base;
  auto* const here = static_cast<std::byte*>(__builtin_frame_address(0));
  if (here - base <= static_cast<std::ptrdiff_t>(own_use_bytes)) return;
  if (!detail::blank_stack(base, here - own_use_bytes)) return;
  task->stack_is_measured = true;
  task_ = task;
}

std::optional<StackUse> StackMeter::end() {
  detail::TaskControl* const task = std::exchange(task_, nullptr);
  if (task == nullptr) return std::nullopt;
  task->stack_is_measured = false;
  const Stack stack = task->stack();
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  const auto* const lowest = detail::lowest_use(stack.base, here - own_use_bytes);
  const StackUse use{
      .used_bytes = static_cast<std::size_t>(stack.top - lowest),
      // The colour takes less than a page above the end.
      .size_bytes = std::bit_floor(static_cast<std::size_t>(stack.top - stack.base))};
  detail::TaskAccess::tell_if_deep(*task, use.used_bytes, use.size_bytes);
  return use;
}

}  // namespace corolane::coroutine
