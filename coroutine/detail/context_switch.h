// The switch from one context to another: one jump, the only place that includes Boost.Context.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include "coroutine/detail/context.h"

namespace corolane::coroutine::detail {

class ContextSwitch {
 public:
  // Saves the running flow in `from` and resumes `to`; returns when somebody switches back.
  // `exceptions` is the thread's exception state.
  static void switch_to(Context& from, Context& to, ExceptionState& exceptions) {
    from.exceptions_ = exceptions;
    exceptions = to.exceptions_;
    from.destination_ = &to;
    before_jump(from, to, false);
    arrive(boost::context::detail::jump_fcontext(to.handle_, &from));
  }

  // The same for a flow that ends here: `from` may be reused as soon as `to` runs.
  [[noreturn]] static void leave_to(Context& from, Context& to, ExceptionState& exceptions) {
    exceptions = to.exceptions_;
    from.destination_ = &to;
    from.ended_ = true;
    before_jump(from, to, true);
    boost::context::detail::jump_fcontext(to.handle_, &from);
    __builtin_unreachable();
  }

 private:
  friend class Context;

  // Runs first in the resumed flow: files the saved frame of the flow that was left.
  static Context& arrive(boost::context::detail::transfer_t transfer) {
    Context& left = *static_cast<Context*>(transfer.data);
    left.handle_ = transfer.fctx;
    Context& self = *left.destination_;
    after_jump(left, self);
    return self;
  }

  static void enter(boost::context::detail::transfer_t transfer);

  static void before_jump([[maybe_unused]] Context& from, [[maybe_unused]] Context& to,
                          [[maybe_unused]] bool from_ends) {
#if defined(COROLANE_ASAN)
    __sanitizer_start_switch_fiber(from_ends ? nullptr : &from.fake_stack_, to.stack_bottom_,
                                   to.stack_size_);
#endif
#if defined(COROLANE_TSAN)
    from.fiber_ = __tsan_get_current_fiber();  // The loop's may change from run() to run().
    __tsan_switch_to_fiber(to.fiber_, 0);
#endif
  }

  static void after_jump([[maybe_unused]] Context& left, [[maybe_unused]] Context& self) {
#if defined(COROLANE_ASAN)
    __sanitizer_finish_switch_fiber(self.fake_stack_, &left.stack_bottom_, &left.stack_size_);
#endif
#if defined(COROLANE_TSAN)
    if (left.ended_) __tsan_destroy_fiber(left.fiber_);
#endif
  }
};

}  // namespace corolane::coroutine::detail
