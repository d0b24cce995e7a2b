// SPDX-License-Identifier: MIT
// Measures how deep the running task uses its stack between two points: for samples of a handler's
// needs.
//
//   StackMeter meter;
//   handle(request);
//   if (const auto use = meter.end()) deepest = std::max(deepest, use->used_bytes);
//
// It takes a few microseconds, and the pages below have to be faulted in again: a TaskMeter running
// at the same time would count that.
#pragma once

#include <cstddef>
#include <optional>

namespace corolane::coroutine {

namespace detail {
struct TaskControl;
}

struct StackUse {
  std::size_t used_bytes;  // From the top of the stack; less than a page too low.
  std::size_t size_bytes;
};

class StackMeter {
 public:
  // Begins, except in a task whose stack is already being measured, where no task runs, or where
  // the kernel refuses.
  StackMeter();
  ~StackMeter() { end(); }
  StackMeter(const StackMeter&) = delete;
  StackMeter& operator=(const StackMeter&) = delete;

  // Must be called in the same task. Nothing the second time, or when nothing was begun.
  std::optional<StackUse> end();

 private:
  detail::TaskControl* task_ = nullptr;
};

}  // namespace corolane::coroutine
