// The switch from one context to another: one jump of Boost.Context.
//
// All of it is inlined into whoever suspends. Not for the instructions it saves: the processor
// predicts the target of a return from the calls it has seen, and after a jump to another stack
// that prediction is wrong for every function that the resumed flow returns from. With the jump
// inlined up to the function that called yield() there is none.
#pragma once

#include <utility>

#include "coroutine/detail/context.h"

namespace corolane::coroutine::detail {

// The entry points of Boost.Context, declared here because its header stays out of ours
// (context.cc checks that both agree). `left` is the frame of the flow that was left, `data`
// what it handed over: here, where that frame is to be filed.
struct Transfer {
  void* left;
  void* data;
};
extern "C" Transfer corolane_jump_fcontext(void* to, void* data) asm("jump_fcontext");
extern "C" void* corolane_make_fcontext(void* top, std::size_t size,
                                        void (*entry)(Transfer)) asm("make_fcontext");
// Calls `on_top` on the stack of `to` before that goes on; its result is what `to` sees. `to` has
// begun.
extern "C" Transfer corolane_ontop_fcontext(void* to, void* data,
                                            Transfer (*on_top)(Transfer)) asm("ontop_fcontext");

class ContextSwitch {
 public:
  using OnTop = Transfer (*)(Transfer);

  // Leaves the running flow, `from`, for `to`, which was suspended at `to_frame`; returns when
  // somebody switches back. `from_frame` is where to file the frame of `from`.
  [[gnu::always_inline]] static void switch_to(Context& from, void*& from_frame, Context& to,
                                               void* to_frame, const ThreadState& thread,
                                               OnTop on_top = nullptr) {
    if (!thread.exceptions->is_clean()) [[unlikely]] {
      return switch_with_exceptions(from, from_frame, to, to_frame, thread, on_top);
    }
    const int error_number = *thread.error_number;
    before_jump(from, to, false);
    arrive(jump(to_frame, &from_frame, on_top), &from);
    *thread.error_number = error_number;
  }

  // The same for a flow that ends here, without exceptions: `from` may be reused as soon as `to`
  // runs.
  [[noreturn, gnu::always_inline]] static void leave_to(Context& from, Context& to, void* to_frame,
                                                        OnTop on_top = nullptr) {
    before_jump(from, to, true);
    jump(to_frame, &from.frame, on_top);
    __builtin_unreachable();
  }

  // Called first on a new stack, by the machine code of Boost.
  template <Context::Entry entry>
  static void enter(Transfer transfer) {
    // Nothing called this function: every unwinder stops here.
#if defined(__x86_64__)
    asm volatile(".cfi_undefined rip");
#elif defined(__aarch64__)
    asm volatile(".cfi_undefined x30");
#endif
    arrive(transfer, nullptr);
    entry();
    __builtin_unreachable();
  }

  static void prepare(Context& context, std::byte* base, std::byte* top, void (*entry)(Transfer)) {
    const auto size = static_cast<std::size_t>(top - base);
    context.frame = corolane_make_fcontext(top, size, entry);
#if defined(COROLANE_ASAN)
    context.stack_bottom_ = base;
    context.stack_size_ = size;
#endif
#if defined(COROLANE_TSAN)
    context.ended_ = false;
    context.fiber_ = __tsan_create_fiber(0);
#endif
  }

 private:
  [[gnu::noinline]] static void switch_with_exceptions(Context& from, void*& from_frame,
                                                       Context& to, void* to_frame,
                                                       const ThreadState& thread, OnTop on_top) {
    const ExceptionState exceptions = std::exchange(*thread.exceptions, {});
    switch_to(from, from_frame, to, to_frame, thread, on_top);
    *thread.exceptions = exceptions;
  }

  [[gnu::always_inline]] static Transfer jump(void* to, void* data, OnTop on_top) {
    if (on_top != nullptr) return corolane_ontop_fcontext(to, data, on_top);
#if defined(__x86_64__)
    // What `call jump_fcontext` does, without a call: see above. The function around it calls
    // others too, so it keeps nothing below its stack pointer.
    Transfer transfer;
    asm volatile(
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "jmp jump_fcontext\n"
        "1:"
        : "=a"(transfer.left), "=d"(transfer.data), "+D"(to), "+S"(data)
        :
        : "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
          "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",
          "memory");
    return transfer;
#else
    return corolane_jump_fcontext(to, data);
#endif
  }

  [[gnu::always_inline]] static void before_jump([[maybe_unused]] Context& from,
                                                 [[maybe_unused]] Context& to,
                                                 [[maybe_unused]] bool from_ends) {
#if defined(COROLANE_ASAN)
    left_ = &from;
    __sanitizer_start_switch_fiber(from_ends ? nullptr : &from.fake_stack_, to.stack_bottom_,
                                   to.stack_size_);
#endif
#if defined(COROLANE_TSAN)
    left_ = &from;
    from.ended_ = from_ends;
    from.fiber_ = __tsan_get_current_fiber();  // The loop's may change from run() to run().
    __tsan_switch_to_fiber(to.fiber_, 0);
#endif
  }

  // Runs first in the resumed flow, `self` unless it begins: files the frame of the flow that was
  // left.
  [[gnu::always_inline]] static void arrive(Transfer transfer, [[maybe_unused]] Context* self) {
    *static_cast<void**>(transfer.data) = transfer.left;
#if defined(COROLANE_ASAN)
    __sanitizer_finish_switch_fiber(self == nullptr ? nullptr : self->fake_stack_,
                                    &left_->stack_bottom_, &left_->stack_size_);
#endif
#if defined(COROLANE_TSAN)
    if (left_->ended_) __tsan_destroy_fiber(left_->fiber_);
#endif
  }

#if defined(COROLANE_ASAN) || defined(COROLANE_TSAN)
  static inline constinit thread_local Context* left_ = nullptr;  // During a jump.
#endif
};

template <Context::Entry entry>
void Context::prepare(std::byte* base, std::byte* top) {
  ContextSwitch::prepare(*this, base, top, &ContextSwitch::enter<entry>);
}

}  // namespace corolane::coroutine::detail
