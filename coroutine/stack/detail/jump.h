// SPDX-License-Identifier: MIT
// The jump to another stack.
//
//   jump(to, data)                  leaves for `to`; returns when another flow jumps back
//   jump_on_top<on_top>(to, data)   the same, and calls on_top() on the stack of `to` first
//   jump_away(to, data)             leaves for good
//   make_frame(top, size, entry)    the `to` of a flow that has not begun
//
// It is ours: a few instructions in the function that suspends, instead of a call that saves and
// loads every callee-saved register, as that of Boost.Context does. The compiler knows which of
// them are in use, and keeps those in the frame of the function. The two words left to save lie
// where Boost.Context saves them too, so that stack walkers (unwind.cc, tools/gdb) need not know
// which jump left a stack. The floating-point control word is not loaded at each jump either, which
// costs a hundred nanoseconds when only its sticky flags differ: see ThreadState.
//
// Sanitizer builds use Boost.Context's, so that tests cover both.
#pragma once

#include <cstddef>

#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/detail/transfer.h"

#if defined(COROLANE_ASAN) || defined(COROLANE_TSAN)
#define COROLANE_OWN_JUMP 0
#else
#define COROLANE_OWN_JUMP 1
#endif

#if COROLANE_OWN_JUMP && defined(__x86_64__)
#include "coroutine/stack/detail/jump_x86_64.h"
#elif COROLANE_OWN_JUMP && defined(__aarch64__)
#include "coroutine/stack/detail/jump_arm64.h"
#elif COROLANE_OWN_JUMP
#error "a jump to another stack is needed here for this processor"
#else

namespace corolane::coroutine::detail {

// The offset from a flow's frame to its saved registers; the next data that the flow uses follows
// them.
inline constexpr std::size_t saved_begin = 0;

// The entry points of Boost.Context, declared here to keep its header out of ours (jump.cc checks
// that both agree).
extern "C" Transfer corolane_jump_fcontext(void* to, void* data) asm("jump_fcontext");
extern "C" Transfer corolane_ontop_fcontext(void* to, void* data,
                                            Transfer (*on_top)(Transfer)) asm("ontop_fcontext");

// As above: makes the frame of a flow that will begin with `entry`.
void* make_frame(std::byte* top, std::size_t size_bytes, void (*entry)(Transfer));

// Inlined, as above: a function with the thread sanitizer enters the shadow stack of the flow that
// is told to it, which is `to` by now, and would never leave it.
[[gnu::always_inline]] inline Transfer jump(void* to, void* data) {
  return corolane_jump_fcontext(to, data);
}

[[noreturn, gnu::always_inline]] inline void jump_away(void* to, void* data) {
  corolane_jump_fcontext(to, data);
  __builtin_unreachable();
}

// `to` has begun.
template <void (*on_top)()>
[[gnu::always_inline]] inline Transfer jump_on_top(void* to, void* data) {
  return corolane_ontop_fcontext(to, data, [](Transfer transfer) {
    on_top();
    return transfer;
  });
}

}  // namespace corolane::coroutine::detail

#endif
