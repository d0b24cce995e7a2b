// A flow of control that can be suspended and resumed, on a stack of its own.
//
// Holds what a switch saves: the machine context (Boost.Context's raw fcontext), the state of
// exception handling, and what the sanitizers want to know. The switch itself is in
// context_switch.h, the one file that includes Boost.
#pragma once

#include <cstddef>

#include "coroutine/detail/sanitizer.h"

namespace corolane::coroutine::detail {

// What __cxa_get_globals() points to: the exceptions caught now and the number in flight. The
// C++ ABI keeps one per thread (Itanium C++ ABI, exception handling, 2.2.2); without a swap at
// each switch two flows suspended inside `catch` would exchange their exceptions.
struct ExceptionState {
  void* caught = nullptr;
  unsigned in_flight_count = 0;
};

class Context {
 public:
  // Runs on the new stack and never returns: its last act is leave_to().
  using Entry = void (*)(Context& self);

  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // The first switch to this context calls `entry` on the stack [base, top).
  void prepare(std::byte* base, std::byte* top, Entry entry);

  // Where the saved registers lie, for prefetching.
  const void* saved_frame() const { return handle_; }

 private:
  friend class ContextSwitch;

  void* handle_ = nullptr;
  ExceptionState exceptions_;
  Entry entry_ = nullptr;
  // Set by the context that switches away, for the one that arrives.
  Context* destination_ = nullptr;
  bool ended_ = false;
#if defined(COROLANE_ASAN)
  const void* stack_bottom_ = nullptr;
  std::size_t stack_size_ = 0;
  void* fake_stack_ = nullptr;
#endif
#if defined(COROLANE_TSAN)
  void* fiber_ = nullptr;
#endif
};

// The exception state of the running thread, to be swapped at each switch.
ExceptionState& thread_exception_state();

}  // namespace corolane::coroutine::detail
