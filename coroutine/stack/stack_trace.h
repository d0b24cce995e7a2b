// The place of a flow of control: the return addresses on its stack, innermost first.
//
// A task's trace is read from outside while it is suspended (Scheduler::tasks), in a few
// microseconds; nothing is recorded in advance. Symbols translates the addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corolane::coroutine {

struct StackTrace {
  // The outermost frames of deeper stacks are left out.
  static constexpr std::size_t depth_max = 128;

  // Empty when unknown: the task has not begun or has ended.
  std::vector<std::uintptr_t> return_addresses;

  bool empty() const { return return_addresses.empty(); }
  bool operator==(const StackTrace&) const = default;
};

}  // namespace corolane::coroutine
