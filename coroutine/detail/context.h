// A flow of control that can be suspended and resumed, on a stack of its own.
//
// Holds the machine context (Boost.Context's raw fcontext) and what the sanitizers want to know.
// The switch itself is in context_switch.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/detail/sanitizer.h"

namespace corolane::coroutine::detail {

// What __cxa_get_globals() points to: the exceptions caught now and the number in flight. The
// C++ ABI keeps one per thread (Itanium C++ ABI, exception handling, 2.2.2): two flows suspended
// inside `catch` would exchange their exceptions.
struct ExceptionState {
  void* caught = nullptr;
  unsigned in_flight_count = 0;

  bool is_clean() const {
    return (reinterpret_cast<std::uintptr_t>(caught) | in_flight_count) == 0;
  }
};

// What a thread has once and every flow on it wants to itself. Whoever leaves takes along what is
// its own and puts it back when it returns; so whoever arrives finds no exceptions, and there is
// nothing to do for the many that have none.
struct ThreadState {
  ExceptionState* exceptions = nullptr;
  int* error_number = nullptr;

  // That of the calling thread.
  static ThreadState of_this_thread();
};

class Context {
 public:
  // Runs on the new stack and never returns: its last act is leave_to().
  using Entry = void (*)();

  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // The first switch to this context calls `entry` on the stack [base, top).
  template <Entry entry>
  void prepare(std::byte* base, std::byte* top);

  // While it is suspended: the saved registers, the lowest address of its stack that is in use.
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
