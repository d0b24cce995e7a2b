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
//
// A switch looks whether the settings are the usual ones. To read MXCSR takes longer than all the
// rest of a switch: 3.4 ns on AMD Zen 5. So the switch adds three pairs of numbers and narrows a
// tiny one. The results depend on the rounding mode and on what happens to tiny numbers, and do not
// depend on traps. No sum is tiny: some processors of Intel need 40 ns for such a sum.
struct FloatingPointState {
#if defined(__x86_64__)
  using Fingerprint = int __attribute__((vector_size(16)));

  static constexpr unsigned flags_of_mxcsr = 0x3f;
  // The calculations trap unless these bits are set: they are inexact, or tiny.
  static constexpr unsigned masks_of_fingerprint = 0x1900;

  static FloatingPointState present() {
    FloatingPointState present;
    present.mxcsr = __builtin_ia32_stmxcsr() & ~flags_of_mxcsr;
    asm volatile("fnstcw %0" : "=m"(present.x87));
    return present;
  }
  void apply() const {
    __builtin_ia32_ldmxcsr(mxcsr);
    asm volatile("fldcw %0" : : "m"(x87));
  }

  bool has_fingerprint() const { return (mxcsr & masks_of_fingerprint) == masks_of_fingerprint; }
  [[gnu::always_inline]] static Fingerprint fingerprint() {
    using Numbers = float __attribute__((vector_size(16)));
    using WideNumbers = double __attribute__((vector_size(16)));
    // Rounded up or not, twice; the sum of a tiny number.
    Numbers sums = {1.0F, -1.0F, 0x1p-126F, 0.0F};
    const Numbers addends = {0x1.8p-24F, -0x1.8p-24F, 0x1p-127F, 0.0F};
    // A tiny result, which differs from zero in a bit that the first sum never sets.
    const WideNumbers wide = {0x1p-127, 0.0};
    Numbers narrowed;
#if defined(__AVX__)
    asm volatile("vcvtpd2ps %1, %0" : "=x"(narrowed) : "x"(wide));
    asm volatile("vaddps %1, %0, %0" : "+x"(sums) : "xm"(addends));
#else
    asm volatile("cvtpd2ps %1, %0" : "=x"(narrowed) : "x"(wide));
    asm volatile("addps %1, %0" : "+x"(sums) : "xm"(addends));
#endif
    return __builtin_bit_cast(Fingerprint, sums) ^ __builtin_bit_cast(Fingerprint, narrowed);
  }
  [[gnu::always_inline]] static bool are_equal(Fingerprint one, Fingerprint other) {
    using Numbers = float __attribute__((vector_size(16)));
    const Fingerprint equal = one == other;
    return __builtin_ia32_movmskps(__builtin_bit_cast(Numbers, equal)) == 0xf;
  }

  unsigned mxcsr = 0x1f80;
  unsigned short x87 = 0x37f;
#elif defined(__aarch64__)
  using Fingerprint = std::uint64_t;

  static FloatingPointState present() { return {.fpcr = fingerprint()}; }
  void apply() const { asm volatile("msr fpcr, %0" : : "r"(fpcr) : "memory"); }

  bool has_fingerprint() const { return true; }
  static Fingerprint fingerprint() {
    std::uint64_t fpcr = 0;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
  }
  static bool are_equal(Fingerprint one, Fingerprint other) { return one == other; }

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
  struct Arithmetic {
    FloatingPointState settings;
    FloatingPointState::Fingerprint fingerprint = {};
    // Those of the thread; where its settings have no fingerprint, some that are never clean.
    const ExceptionState* watched_exceptions = nullptr;
  };
  static Arithmetic arithmetic() { return {settings, fingerprint, watched_exceptions}; }
  static void set(const Arithmetic& arithmetic);

  // Finds the state of the running thread; every thread calls it first. Returns the arithmetic of
  // before, which the scheduler of a task restores at its end.
  static Arithmetic find();

  [[gnu::always_inline]] static bool is_clean() {
    return watched_exceptions->is_clean() &&
           FloatingPointState::are_equal(FloatingPointState::fingerprint(), fingerprint);
  }
  static void apply_arithmetic() { settings.apply(); }

 private:
  static inline constinit thread_local FloatingPointState settings;
  static inline constinit thread_local FloatingPointState::Fingerprint fingerprint = {};
  static inline constinit thread_local const ExceptionState* watched_exceptions = nullptr;
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
