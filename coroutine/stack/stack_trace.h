// Where a flow of control is: the return addresses on its stack, innermost first.
//
// A task's trace is read from outside while it is suspended (Scheduler::tasks), in a few
// microseconds; nothing is kept before somebody asks. Symbols says what the addresses stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corolane::coroutine {

struct StackTrace {
  // Of deeper stacks the outermost frames are left out.
  static constexpr std::size_t depth_max = 128;

  // Empty when it is not known: of a task that has not begun or has ended.
  std::vector<std::uintptr_t> return_addresses;

  bool empty() const { return return_addresses.empty(); }
  bool operator==(const StackTrace&) const = default;
};

}  // namespace corolane::coroutine
