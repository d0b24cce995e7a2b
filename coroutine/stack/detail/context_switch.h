// SPDX-License-Identifier: MIT
// The switch from one context to another.
//
// All of it is inlined into the function that suspends. The saved instructions are not the reason:
// the processor predicts the target of a return from the calls it has seen, and after a jump to
// another stack that prediction is wrong for every function that the resumed flow returns from.
// With the jump inlined up to the caller of yield() no such return is left.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "coroutine/stack/detail/context.h"
#include "coroutine/stack/detail/jump.h"

namespace corolane::coroutine::detail {

class ContextSwitch {
 public:
  // Leaves the running flow, `from`, for `to`, which was suspended at `to_frame`; returns when
  // another flow switches back. `from_frame` receives the frame of `from`.
  [[gnu::always_inline]] static void switch_to(Context& from, void*& from_frame, Context& to,
                                               void* to_frame) {
    if (!ThreadState::is_clean()) [[unlikely]] {
      return switch_with_state(from, from_frame, to, to_frame);
    }
    const int error_number = *ThreadState::error_number;
    before_jump(from, to, false);
    arrive(jump(to_frame, static_cast<void*>(&from_frame)), &from);
    *ThreadState::error_number = error_number;
  }

  // The same, and calls `on_top` on the stack of `to`, which has begun, before `to` resumes.
  template <void (*on_top)()>
  static void switch_to_below(Context& from, void*& from_frame, Context& to, void* to_frame) {
    // Only when needed: loading the state again takes longer than all the rest.
    std::optional<SavedState> state;
    if (!ThreadState::is_clean()) state.emplace();
    const int error_number = *ThreadState::error_number;
    before_jump(from, to, false);
    arrive(jump_on_top<on_top>(to_frame, static_cast<void*>(&from_frame)), &from);
    *ThreadState::error_number = error_number;
  }

  // The first two functions again, for a flow that ends here, without exceptions: `from` may be
  // reused as soon as `to` runs.
  [[noreturn, gnu::always_inline]] static void leave_to(Context& from, Context& to,
                                                        void* to_frame) {
    if (!ThreadState::is_clean()) [[unlikely]] {
      ThreadState::apply_arithmetic();
    }
    before_jump(from, to, true);
    jump_away(to_frame, static_cast<void*>(&from.frame));
  }
  template <void (*on_top)()>
  [[noreturn]] static void leave_to_below(Context& from, Context& to, void* to_frame) {
    if (!ThreadState::is_clean()) ThreadState::apply_arithmetic();
    before_jump(from, to, true);
    jump_on_top<on_top>(to_frame, static_cast<void*>(&from.frame));
    __builtin_unreachable();
  }

  // The first function on a new stack.
  template <Context::Entry entry>
  static void enter(Transfer transfer) {
    // No function called this one: every unwinder stops here.
#if defined(__x86_64__)
    asm volatile(".cfi_undefined rip");
#elif defined(__aarch64__)
    asm volatile(".cfi_undefined x30");
#endif
    arrive(transfer, nullptr);
    entry();
    __builtin_unreachable();
  }

  static void prepare(Context& context, [[maybe_unused]] std::byte* base, std::byte* top,
                      void (*entry)(Transfer)) {
    context.frame = make_frame(top, static_cast<std::size_t>(top - base), entry);
#if defined(COROLANE_ASAN)
    context.stack_bottom_ = base;
    context.stack_size_ = static_cast<std::size_t>(top - base);
    // The frames that an earlier flow left for good are still poisoned.
    __asan_unpoison_memory_region(base, context.stack_size_);
#endif
#if defined(COROLANE_TSAN)
    context.ended_ = false;
    context.fiber_ = __tsan_create_fiber(0);
#endif
  }

 private:
  // Saves the state that few flows have, and restores it.
  class SavedState {
   public:
    SavedState() { ThreadState::apply_arithmetic(); }
    ~SavedState() {
      *ThreadState::exceptions = exceptions_;
      arithmetic_.apply();
    }
    SavedState(const SavedState&) = delete;
    SavedState& operator=(const SavedState&) = delete;

   private:
    ExceptionState exceptions_ = std::exchange(*ThreadState::exceptions, {});
    FloatingPointState arithmetic_ = FloatingPointState::present();
  };

#if defined(COROLANE_ASAN)
  // AddressSanitizer makes a second stack for each flow, to find uses after a return. Making one
  // takes longer than most flows, so those of ended flows of the thread serve the next ones.
  class SpareFakeStacks {
   public:
    static thread_local SpareFakeStacks here;

    // Where to store one; null when there are enough, which frees it.
    void** place() { return count_ < spare_.size() ? &spare_[count_++] : nullptr; }
    // Null when there is none: a new one is made.
    void* take() { return count_ == 0 ? nullptr : spare_[--count_]; }

   private:
    std::array<void*, 64> spare_ = {};
    std::size_t count_ = 0;
  };
#endif

  [[gnu::noinline, gnu::cold]] static void switch_with_state(Context& from, void*& from_frame,
                                                             Context& to, void* to_frame) {
    const SavedState state;
    const int error_number = *ThreadState::error_number;
    before_jump(from, to, false);
    arrive(jump(to_frame, static_cast<void*>(&from_frame)), &from);
    *ThreadState::error_number = error_number;
  }

  [[gnu::always_inline]] static void before_jump([[maybe_unused]] Context& from,
                                                 [[maybe_unused]] Context& to,
                                                 [[maybe_unused]] bool from_ends) {
#if defined(COROLANE_ASAN)
    left_ = &from;
    void** const kept = from_ends ? SpareFakeStacks::here.place() : &from.fake_stack_;
    __sanitizer_start_switch_fiber(kept, to.stack_bottom_, to.stack_size_);
#endif
#if defined(COROLANE_TSAN)
    left_ = &from;
    from.ended_ = from_ends;
    from.fiber_ = __tsan_get_current_fiber();  // The loop's may differ between runs.
    __tsan_switch_to_fiber(to.fiber_, 0);
#endif
  }

  // Runs first in the resumed flow, `self`, which is null when the flow begins: stores the frame of
  // the flow that was left.
  [[gnu::always_inline]] static void arrive(Transfer transfer, [[maybe_unused]] Context* self) {
    *static_cast<void**>(transfer.data) = transfer.left;
#if defined(COROLANE_ASAN)
    __sanitizer_finish_switch_fiber(
        self == nullptr ? SpareFakeStacks::here.take() : self->fake_stack_, &left_->stack_bottom_,
        &left_->stack_size_);
#endif
#if defined(COROLANE_TSAN)
    if (left_->ended_) __tsan_destroy_fiber(left_->fiber_);
#endif
  }

#if defined(COROLANE_ASAN) || defined(COROLANE_TSAN)
  static inline constinit thread_local Context* left_ = nullptr;  // During a jump.
#endif
};

#if defined(COROLANE_ASAN)
inline constinit thread_local ContextSwitch::SpareFakeStacks ContextSwitch::SpareFakeStacks::here;
#endif

template <Context::Entry entry>
void Context::prepare(std::byte* base, std::byte* top) {
  ContextSwitch::prepare(*this, base, top, &ContextSwitch::enter<entry>);
}

}  // namespace corolane::coroutine::detail
