// Lets a handler of a fatal signal go on behind a fault of its own: what it reads may be broken,
// that is why it runs.
//
//   if (!FaultGuard::run([&] { write_stack(text); })) text.add("(broken)\n");
//
// The handler asks first whether the fault is one inside of run(), and leaves it then:
//
//   if (FaultGuard::is_active()) FaultGuard::leave();
//
// Each thread for itself; async-signal-safe.
#pragma once

#include <csetjmp>

namespace corolane::coroutine {

class FaultGuard {
 public:
  // False when a fault has ended it. Without destructors: `work` keeps nothing that needs one. May
  // be nested.
  template <typename F>
  static bool run(F&& work) {
    sigjmp_buf here;
    sigjmp_buf* const volatile outer = innermost_;
    // What signals are blocked is the handler's: saving them would cost a system call each time.
    const bool is_whole = sigsetjmp(here, 0) == 0;
    if (is_whole) {
      innermost_ = &here;
      work();
    }
    innermost_ = outer;
    return is_whole;
  }

  static bool is_active() { return innermost_ != nullptr; }
  // Called by the handler of the fault: run() returns. Its signals are not blocked afterwards.
  [[noreturn]] static void leave();

 private:
  static inline constinit thread_local sigjmp_buf* innermost_ = nullptr;
};

}  // namespace corolane::coroutine
