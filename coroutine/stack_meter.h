// How deep the running task's stack is used between two points: for samples of what a handler
// needs.
//
//   StackMeter meter;
//   handle(request);
//   if (const auto use = meter.end()) deepest = std::max(deepest, use->used_bytes);
//
// It takes a few microseconds, and the pages below have to come back: a TaskMeter beside it would
// tell of that.
#pragma once

#include <cstddef>
#include <optional>

namespace corolane::coroutine {

namespace detail {
struct TaskControl;
}

struct StackUse {
  std::size_t used_bytes;  // From the top of the stack; short of the truth by less than a page.
  std::size_t size_bytes;
};

class StackMeter {
 public:
  // Begins. Does not in a task whose stack is measured already, where no task runs, and where the
  // kernel refuses.
  StackMeter();
  ~StackMeter() { end(); }
  StackMeter(const StackMeter&) = delete;
  StackMeter& operator=(const StackMeter&) = delete;

  // In the same task. Nothing the second time, and if nothing was begun.
  std::optional<StackUse> end();

 private:
  detail::TaskControl* task_ = nullptr;
};

}  // namespace corolane::coroutine
