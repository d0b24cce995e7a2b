// The options of a spawned task.
#pragma once

#include <cstddef>

#include "coroutine/stack/stack_pool.h"

namespace corolane::coroutine {

struct TaskOptions {
  // Rounded up to the next size class of the pool; StackPool::stack_size_bytes_max at the most.
  std::size_t stack_size_bytes = StackPool::stack_size_bytes_default;
  // Control work gets a stack even when all others are in use: StackPool::Options::control_count.
  StackPool::Purpose purpose = StackPool::Purpose::ordinary;
};

}  // namespace corolane::coroutine
