// SPDX-License-Identifier: MIT
// A task that came close to the end of its stack: another one of its kind may overflow.
//
//   Scheduler scheduler(loop, {.on_deep_stack = [](const DeepStack& deep) {
//                        std::cerr << deep.task_name << ": " << deep.used_bytes << '\n';
//                      }});
//
// Seen where the depth of a stack is measured: StackMeter, and a sample of the tasks of each spawn
// site. A path that is rare is seen by Scheduler::look_for_deep_stacks(): a page that a task has
// used once stays until its stack is trimmed. A guard page above the end would see it at once, and
// would break what it looks at: a system call that writes to a buffer there fails with EFAULT.
#pragma once

#include <cstddef>
#include <functional>
#include <source_location>
#include <string_view>

namespace corolane::coroutine {

// Refers to texts that live as long as the call that receives it.
struct DeepStack {
  std::string_view task_name = {};
  std::source_location spawn_site = {};
  std::size_t used_bytes = 0;
  std::size_t size_bytes = 0;
  // Otherwise the stack was found idle: the task was the last one on it, and it or one before has
  // used that many bytes at least.
  bool is_measured = true;
};

// Whether at most a tenth of the stack was left.
constexpr bool is_deep(std::size_t used_bytes, std::size_t size_bytes) {
  return used_bytes >= size_bytes - size_bytes / 10;
}

// Called inside the task, or by look_for_deep_stacks(). Must neither suspend nor throw.
using OnDeepStack = std::function<void(const DeepStack&)>;

}  // namespace corolane::coroutine
