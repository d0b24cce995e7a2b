#include "coroutine/detail/context.h"

#include <cxxabi.h>

#include "coroutine/detail/context_switch.h"

namespace corolane::coroutine::detail {

void Context::prepare(std::byte* base, std::byte* top, Entry entry) {
  handle_ = boost::context::detail::make_fcontext(top, static_cast<std::size_t>(top - base),
                                                  &ContextSwitch::enter);
  entry_ = entry;
  ended_ = false;
#if defined(COROLANE_ASAN)
  stack_bottom_ = base;
  stack_size_ = static_cast<std::size_t>(top - base);
#endif
#if defined(COROLANE_TSAN)
  fiber_ = __tsan_create_fiber(0);
#endif
}

void ContextSwitch::enter(boost::context::detail::transfer_t transfer) {
  // Nothing called this function: every unwinder stops here.
#if defined(__x86_64__)
  asm volatile(".cfi_undefined rip");
#elif defined(__aarch64__)
  asm volatile(".cfi_undefined x30");
#endif
  Context& self = arrive(transfer);
  self.entry_(self);
  __builtin_unreachable();
}

ExceptionState& thread_exception_state() {
  return *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
}

}  // namespace corolane::coroutine::detail
