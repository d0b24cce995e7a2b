// SPDX-License-Identifier: MIT
// A flow of control that can be suspended and resumed, on a stack of its own.
//
// Holds its saved frame and the data that sanitizers need. The switch itself is in
// context_switch.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/stack/detail/jump.h"
#include "coroutine/stack/detail/sanitizer.h"

namespace corolane::coroutine::detail {

// The object behind __cxa_get_globals(): the exceptions caught now and the number in flight. The
// C++ ABI keeps one per thread (Itanium C++ ABI, exception handling, 2.2.2): unless it is switched,
// two flows suspended inside `catch` exchange their exceptions.
struct ExceptionState {
  void* caught = nullptr;
  unsigned in_flight_count = 0;

  bool is_clean() const {
    return (reinterpret_cast<std::uintptr_t>(caught) | in_flight_count) == 0;
  }
};

// The rounding, traps and status of floating-point arithmetic: the MXCSR register (Intel SDM vol.
// 1, 10.2.3), and below it the x87 control word, which the C library keeps in step. The status
// flags are not preserved: no flow may rely on them after a call.
struct FloatingPointState {
#if COROLANE_OWN_JUMP
  static constexpr unsigned initial_mxcsr = 0x1f80;
  static constexpr unsigned flags_of_mxcsr = 0x3f;

  static bool is_clean() { return (__builtin_ia32_stmxcsr() & ~flags_of_mxcsr) == initial_mxcsr; }
  static FloatingPointState exchange(FloatingPointState other) {
    FloatingPointState own;
    own.mxcsr = __builtin_ia32_stmxcsr();
    asm volatile("fnstcw %0" : "=m"(own.x87));
    __builtin_ia32_ldmxcsr(other.mxcsr);
    asm volatile("fldcw %0" : : "m"(other.x87));
    return own;
  }

  unsigned mxcsr = initial_mxcsr;
  unsigned short x87 = 0x37f;
#else
  // The jump itself keeps it.
  static bool is_clean() { return true; }
  static FloatingPointState exchange(FloatingPointState) { return {}; }
#endif
};

// State that exists once per thread but that each flow needs for itself. A flow that leaves saves
// its own and restores it on return; so every flow arrives with no exceptions and default
// arithmetic, and the many flows that need nothing else do no work.
struct ThreadState {
  ExceptionState* exceptions = nullptr;
  int* error_number = nullptr;

  // The state of the running thread. Only its address is needed, so a flow that returns from a
  // switch does not wait for data on its stack.
  static thread_local constinit ThreadState here;
  // Initialises `here`; every thread calls it first.
  static void find();

  bool is_clean() const { return exceptions->is_clean() && FloatingPointState::is_clean(); }
};

inline thread_local constinit ThreadState ThreadState::here;

class Context {
 public:
  // Runs on the new stack and never returns: it ends with leave_to().
  using Entry = void (*)();

  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // The first switch to this context calls `entry` on the stack [base, top).
  template <Entry entry>
  void prepare(std::byte* base, std::byte* top);

  // While suspended: the saved registers, at the lowest used address of its stack.
  void* frame = nullptr;

 private:
  friend class ContextSwitch;

#if defined(COROLANE_TSAN)
  bool ended_ = false;
  void* fiber_ = nullptr;
#endif
#if defined(COROLANE_ASAN)
  const void* stack_bottom_ = nullptr;
  std::size_t stack_size_ = 0;
  void* fake_stack_ = nullptr;
#endif
};

}  // namespace corolane::coroutine::detail
