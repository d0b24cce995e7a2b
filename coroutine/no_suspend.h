// SPDX-License-Identifier: MIT
// A stretch of code that must not suspend: it changes shared state that other tasks must not see
// half done.
//
//   NoSuspend indivisible;
//   from.gold -= price;
//   to.gold += price;
//
// Between two suspensions nothing else runs, so such code needs no lock; but a later change must
// not add a suspending call to it, or to what it calls. A call that suspends inside, and every
// yield(), ends the process by check(), which names the place where the scope began. Calls that
// need not wait are fine: a free mutex, a channel that holds a value.
#pragma once

#include <source_location>

namespace corolane::coroutine {
namespace detail {
struct TaskControl;
}

// Scopes nest. Belongs to the task that made it and ends in it. It does nothing elsewhere: on the
// loop's own stack nothing may suspend anyway, and a stackless coroutine shows its suspensions by
// co_await. Costs a few instructions, and other code nothing.
class [[nodiscard]] NoSuspend {
 public:
  explicit NoSuspend(const std::source_location& place = std::source_location::current());
  ~NoSuspend();
  NoSuspend(const NoSuspend&) = delete;
  NoSuspend& operator=(const NoSuspend&) = delete;

  // Where the scope began.
  const std::source_location& place() const { return place_; }

 private:
  std::source_location place_;
  detail::TaskControl* task_;  // Null on the loop's stack.
  const NoSuspend* outer_ = nullptr;
};

}  // namespace corolane::coroutine
