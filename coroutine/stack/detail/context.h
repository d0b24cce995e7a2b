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

// The settings of floating-point arithmetic: rounding, traps, and whether tiny numbers are zero. On
// x86-64 the MXCSR register (Intel SDM vol. 1, 10.2.3), and below it the x87 control word, which
// the C library keeps in step; on arm64 FPCR (Arm ARM, C5.2). The status flags are not preserved:
// no flow may rely on them after a call.
struct FloatingPointState {
#if defined(__x86_64__)
  static constexpr unsigned flags_of_mxcsr = 0x3f;

  static FloatingPointState present() {
    FloatingPointState present;
    present.mxcsr = __builtin_ia32_stmxcsr() & ~flags_of_mxcsr;
    asm volatile("fnstcw %0" : "=m"(present.x87));
    return present;
  }
  bool is_present() const { return (__builtin_ia32_stmxcsr() & ~flags_of_mxcsr) == mxcsr; }
  void apply() const {
    __builtin_ia32_ldmxcsr(mxcsr);
    asm volatile("fldcw %0" : : "m"(x87));
  }

  unsigned mxcsr = 0x1f80;
  unsigned short x87 = 0x37f;
#elif defined(__aarch64__)
  static FloatingPointState present() {
    FloatingPointState present;
    asm volatile("mrs %0, fpcr" : "=r"(present.fpcr));
    return present;
  }
  bool is_present() const { return present().fpcr == fpcr; }
  void apply() const { asm volatile("msr fpcr, %0" : : "r"(fpcr) : "memory"); }

  std::uint64_t fpcr = 0;
#else
#error "the register with the settings of floating-point arithmetic is needed here"
#endif
};

// State that exists once per thread but that each flow needs for itself. A flow that leaves saves
// its own and restores it on return; so every flow arrives with no exceptions and the arithmetic of
// the thread, and the many flows that need nothing else do no work.
//
// Separate variables: the compiler would fetch the address of a struct ahead of a switch, and after
// it wait for that on the stack.
struct ThreadState {
  static inline constinit thread_local ExceptionState* exceptions = nullptr;
  static inline constinit thread_local int* error_number = nullptr;
  // With which every flow begins: what the thread, or the task, has set that runs the scheduler.
  static inline constinit thread_local FloatingPointState arithmetic;

  // Finds those of the running thread; every thread calls it first. Returns the arithmetic of
  // before, which the scheduler of a task restores at its end.
  static FloatingPointState find();

  static bool is_clean() { return exceptions->is_clean() && arithmetic.is_present(); }
};

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
