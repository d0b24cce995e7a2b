// SPDX-License-Identifier: MIT
// Tells valgrind about stacks that it did not see being made. Outside valgrind nothing happens, and
// a call costs next to nothing; without its header it compiles to nothing.
#pragma once

#include <cstddef>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_STACK_REGISTER(begin, end) 0
#define VALGRIND_MAKE_MEM_UNDEFINED(begin, size) 0
#define VALGRIND_MAKE_MEM_DEFINED(begin, size) 0
#endif

namespace corolane::coroutine::detail {

struct Valgrind {
  static bool is_running() { return RUNNING_ON_VALGRIND != 0; }

  // Registers stacks that end at `end`: tasks switch to them.
  static void add_stack([[maybe_unused]] const std::byte* base,
                        [[maybe_unused]] const std::byte* end) {
    static_cast<void>(VALGRIND_STACK_REGISTER(base, end));
  }
  // Makes the memory writable, with undefined contents: for valgrind, memory below the last stack
  // pointer of a stack does not exist.
  static void begin_use([[maybe_unused]] const std::byte* begin,
                        [[maybe_unused]] std::size_t size_bytes) {
    static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(begin, size_bytes));
  }
  // Allows a deliberate read of leftover contents. A call would end a frame: see stack_depth.cc.
  // Its reader is not instrumented, so what is inlined there must not be, either.
  [[gnu::always_inline, gnu::no_sanitize_address]] static void allow_read(
      [[maybe_unused]] const std::byte* begin, [[maybe_unused]] std::size_t size_bytes) {
    static_cast<void>(VALGRIND_MAKE_MEM_DEFINED(begin, size_bytes));
  }
};

}  // namespace corolane::coroutine::detail
