// SPDX-License-Identifier: MIT
// The jump to another stack on arm64: a part of jump.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/stack/detail/transfer.h"

namespace corolane::coroutine::detail {

inline constexpr std::size_t saved_begin = 0x90;

// Makes the frame of a flow that will begin with `entry` on the stack that ends at `top`.
inline void* make_frame(std::byte* top, std::size_t /*size_bytes*/, void (*entry)(Transfer)) {
  // Looks as if `entry` had been called from nowhere; the stack is aligned as the AAPCS64 (6.4.5.1)
  // requires.
  const auto address = reinterpret_cast<std::uintptr_t>(top);
  auto* const words = reinterpret_cast<void**>(top - address % 16 - 4 * sizeof(void*));
  words[2] = reinterpret_cast<void*>(entry);
  words[1] = nullptr;  // The link register.
  words[0] = nullptr;  // The frame pointer.
  return reinterpret_cast<std::byte*>(words) - saved_begin;
}

// Saves the frame pointer and the resume address of a flow, 0x90 and 0xa0 bytes above the frame. A
// branch by x16 may lead to the first instruction of a function, or to the mark behind a jump,
// where branch target identification is in force.
#define COROLANE_LEAVE         \
  "adr x9, 1f\n\t"             \
  "str x29, [sp, #-0x20]!\n\t" \
  "str x9, [sp, #0x10]\n\t"    \
  "sub x9, sp, #0x90\n\t" COROLANE_ENTER "mov x0, x9\n\t"
#define COROLANE_ENTER            \
  "ldp x29, x30, [x0, #0x90]\n\t" \
  "ldr x16, [x0, #0xa0]\n\t"      \
  "add sp, x0, #0xb0\n\t"
#define COROLANE_RESUME_HERE "1:\n\thint #36"  // bti j
// The jump clobbers all that a call may, and what a called function would save.
#if defined(__ARM_FEATURE_SVE)
#define COROLANE_SVE_CLOBBERS                                                                      \
  , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", \
      "p15"
#else
#define COROLANE_SVE_CLOBBERS
#endif
#define COROLANE_JUMP_CLOBBERS                                                                   \
  "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",     \
      "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", \
      "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",    \
      "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", \
      "v27", "v28", "v29", "v30", "v31", "cc", "memory" COROLANE_SVE_CLOBBERS

// Leaves for `to`; returns when another flow jumps back. Neither leaves nor enters by a call or
// return that the processor pairs, so its predictions stay right.
[[gnu::always_inline]] inline Transfer jump(void* to, void* data) {
  register void* frame asm("x0") = to;
  register void* passed asm("x1") = data;
  asm volatile(COROLANE_LEAVE "br x16\n" COROLANE_RESUME_HERE
               : "+r"(frame), "+r"(passed)
               :
               : "x2", COROLANE_JUMP_CLOBBERS);
  return {.left = frame, .data = passed};
}

// The same, and calls `on_top` on the stack of `to` before `to` resumes.
template <void (*on_top)()>
Transfer jump_on_top(void* to, void* data) {
  register void* frame asm("x0") = to;
  register void* passed asm("x1") = data;
  register void (*function)() asm("x2") = on_top;
  asm volatile(COROLANE_LEAVE
               "mov x19, x16\n\t"
               "mov x20, x0\n\t"
               "mov x21, x1\n\t"
               "blr x2\n\t"
               "mov x0, x20\n\t"
               "mov x1, x21\n\t"
               "br x19\n" COROLANE_RESUME_HERE
               : "+r"(frame), "+r"(passed), "+r"(function)
               :
               : COROLANE_JUMP_CLOBBERS);
  return {.left = frame, .data = passed};
}

// Leaves for `to` for good. `to` receives a frame that cannot be resumed.
[[noreturn, gnu::always_inline]] inline void jump_away(void* to, void* data) {
  register void* frame asm("x0") = to;
  register void* passed asm("x1") = data;
  asm volatile(COROLANE_ENTER "br x16" : : "r"(frame), "r"(passed) : "memory");
  __builtin_unreachable();
}

#undef COROLANE_LEAVE
#undef COROLANE_ENTER
#undef COROLANE_RESUME_HERE
#undef COROLANE_SVE_CLOBBERS
#undef COROLANE_JUMP_CLOBBERS

}  // namespace corolane::coroutine::detail
