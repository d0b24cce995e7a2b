// A stretch of code that must not suspend: it reads and changes what other tasks see, and they
// must not see it half done.
//
//   NoSuspend indivisible;
//   from.gold -= price;
//   to.gold += price;
//
// Between two suspensions nothing else runs, so such code needs no lock; what it needs is that
// nobody adds a suspending call to it, or to what it calls, in a year. A call that suspends inside,
// and every yield(), ends the process by check(), which names the place where the scope began.
// Calls that need not wait are fine: a mutex that is free, a channel that has something.
#pragma once

#include <source_location>

namespace corolane::coroutine {
namespace detail {
struct TaskControl;
}

// Scopes nest. Belongs to the task that made it and ends in it; elsewhere it does nothing: on the
// loop's own stack nothing may suspend anyway, and a stackless coroutine suspends where it says
// co_await, which its reader sees. Costs a few instructions, and nothing elsewhere.
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
