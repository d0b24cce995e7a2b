// SPDX-License-Identifier: MIT
// Lets a handler of a signal run on any stack, and survive a fault of its own: that of a fatal
// signal runs because something is broken, so what it reads may be broken too.
//
//   if (!FaultGuard::run([&] { write_stack(text); })) text.add("(broken)\n");
//
// The handler first asks whether the fault happened inside run(), and leaves run() if so:
//
//   if (FaultGuard::is_active()) FaultGuard::leave();
//
// State is per thread; async-signal-safe.
#pragma once

#include <csetjmp>

namespace corolane::coroutine {

class FaultGuard {
 public:
  // Returns false when a fault has ended `work`. No destructors run then, so `work` must not hold
  // anything that needs one. May be nested.
  template <typename F>
  static bool run(F&& work) {
    sigjmp_buf here;
    sigjmp_buf* const volatile outer = innermost_;
    // The handler's signal mask is not saved: saving it would cost a system call each time.
    const bool is_whole = sigsetjmp(here, 0) == 0;
    if (is_whole) {
      innermost_ = &here;
      work();
    }
    innermost_ = outer;
    return is_whole;
  }

  static bool is_active() { return innermost_ != nullptr; }
  // Called by the handler of the fault: run() returns. Its signals stay unblocked afterwards.
  [[noreturn]] static void leave();

  // Gives the calling thread an alternate stack for its handlers (sigaltstack(2)) until it ends,
  // unless it has one of that size: a task's own stack may be full, and is never deep enough for
  // the registers that the kernel saves on it. Returns false when there is no memory for it. Not
  // for handlers.
  static bool give_thread_signal_stack();

 private:
  static inline constinit thread_local sigjmp_buf* innermost_ = nullptr;
};

}  // namespace corolane::coroutine
