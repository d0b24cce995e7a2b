// SPDX-License-Identifier: MIT
// The jump to another stack on x86-64: a part of jump.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "coroutine/stack/detail/transfer.h"

namespace corolane::coroutine::detail {

inline constexpr std::size_t saved_begin = 0x38;

// Makes the frame of a flow that will begin with `entry` on the stack that ends at `top`.
inline void* make_frame(std::byte* top, std::size_t /*size_bytes*/, void (*entry)(Transfer)) {
  // Looks as if `entry` had been called from nowhere: the return address is zero, and the stack is
  // aligned as the System V ABI (3.2.2) requires at the first instruction of a function.
  const auto address = reinterpret_cast<std::uintptr_t>(top);
  auto* const words = reinterpret_cast<void**>(top - address % 16 - 3 * sizeof(void*));
  words[2] = nullptr;
  words[1] = reinterpret_cast<void*>(entry);
  words[0] = nullptr;  // The frame pointer.
  return reinterpret_cast<std::byte*>(words) - saved_begin;
}

// Saves the resume address and the frame pointer of a flow, 0x40 and 0x38 bytes above the frame.
// The registers that Boost.Context saves below stay undefined, as they may after a function that
// uses it.
#define COROLANE_LEAVE           \
  "leaq 1f(%%rip), %%rax\n\t"    \
  "pushq %%rax\n\t"              \
  "pushq %%rbp\n\t"              \
  "leaq -0x38(%%rsp), %%rax\n\t" \
  "leaq 0x38(%%rdi), %%rsp\n\t"  \
  "movq %%rax, %%rdi\n\t"        \
  "popq %%rbp\n\t"
// The jump clobbers all that a call may. The compiler does not see a call, so the list names every
// such register that the surrounding code may use. GCC knows some of them only where the flags
// allow their use, and a function with a `target` attribute has other flags than this header sees:
// such a function must not suspend.
#if defined(__AVX512F__)
#define COROLANE_AVX512_CLOBBERS                                                                \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",   \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", \
      "k6", "k7"
#else
#define COROLANE_AVX512_CLOBBERS
#endif
#if defined(__APX_F__)
#define COROLANE_APX_CLOBBERS                                                                  \
  , "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", \
      "r29", "r30", "r31"
#else
#define COROLANE_APX_CLOBBERS
#endif
#if defined(__MMX__)
#define COROLANE_MMX_CLOBBERS , "mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7"
#else
#define COROLANE_MMX_CLOBBERS
#endif
#define COROLANE_JUMP_CLOBBERS                                                                   \
  "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",     \
      "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
      "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)",     \
      "st(7)", "cc", "memory" COROLANE_MMX_CLOBBERS COROLANE_AVX512_CLOBBERS COROLANE_APX_CLOBBERS

// Leaves for `to`; returns when another flow jumps back. Neither leaves nor enters by a call or
// return that the processor pairs, so its predictions stay right.
//
// It pushes two words, and nothing may lie there: a function that makes no call keeps values below
// its stack pointer, in the red zone of the ABI (3.2.2). So the compiler sees a call, on a path of
// which it believes that the first, empty statement may take it. It costs no instruction.
[[gnu::always_inline]] inline Transfer jump(void* to, void* data) {
  asm goto("" : : : : never);
  asm volatile(COROLANE_LEAVE
               "popq %%rcx\n\t"
               "jmp *%%rcx\n"
               "1:"
               : "+D"(to), "+S"(data)
               :
               : "rdx", COROLANE_JUMP_CLOBBERS);
  return {.left = to, .data = data};
never:
  std::abort();
}

// The same, and calls `on_top` on the stack of `to` before `to` resumes.
template <void (*on_top)()>
Transfer jump_on_top(void* to, void* data) {
  void (*function)() = on_top;
  asm goto("" : : : : never);
  asm volatile(COROLANE_LEAVE
               "popq %%r12\n\t"
               "movq %%rsp, %%rbx\n\t"
               "andq $-16, %%rsp\n\t"
               "pushq %%rdi\n\t"
               "pushq %%rsi\n\t"
               "call *%%rdx\n\t"
               "popq %%rsi\n\t"
               "popq %%rdi\n\t"
               "movq %%rbx, %%rsp\n\t"
               "jmp *%%r12\n"
               "1:"
               : "+D"(to), "+S"(data), "+d"(function)
               :
               : COROLANE_JUMP_CLOBBERS);
  return {.left = to, .data = data};
never:
  std::abort();
}

// Leaves for `to` for good. `to` receives a frame that cannot be resumed.
[[noreturn, gnu::always_inline]] inline void jump_away(void* to, void* data) {
  asm volatile(
      "leaq 0x38(%0), %%rsp\n\t"
      "popq %%rbp\n\t"
      "popq %%rcx\n\t"
      "jmp *%%rcx"
      :
      : "D"(to), "S"(data)
      : "memory");
  __builtin_unreachable();
}

#undef COROLANE_LEAVE
#undef COROLANE_JUMP_CLOBBERS
#undef COROLANE_MMX_CLOBBERS
#undef COROLANE_AVX512_CLOBBERS
#undef COROLANE_APX_CLOBBERS

}  // namespace corolane::coroutine::detail
