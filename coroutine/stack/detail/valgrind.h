// What valgrind has to be told of stacks that it did not see being made. Nothing happens, and a
// call costs next to nothing, when the program runs without it; where its header is missing there
// is nothing at all.
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

  // Stacks that end at `end` are switched to.
  static void add_stack([[maybe_unused]] const std::byte* base,
                        [[maybe_unused]] const std::byte* end) {
    static_cast<void>(VALGRIND_STACK_REGISTER(base, end));
  }
  // It may be written again, and holds nothing to be read: to valgrind what lies below the last
  // stack pointer of a stack does not exist.
  static void begin_use([[maybe_unused]] const std::byte* begin,
                        [[maybe_unused]] std::size_t size_bytes) {
    static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(begin, size_bytes));
  }
  // What is left there is read on purpose.
  static void allow_read([[maybe_unused]] const std::byte* begin,
                         [[maybe_unused]] std::size_t size_bytes) {
    static_cast<void>(VALGRIND_MAKE_MEM_DEFINED(begin, size_bytes));
  }
};

}  // namespace corolane::coroutine::detail
