// SPDX-License-Identifier: MIT
// What context_test.cc cannot see: the thread sanitizer's idea of the stack.
#include "coroutine/stack/detail/context_switch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "coroutine/task.h"

#if defined(COROLANE_TSAN)
// For debuggers: writes the stack of the allocation at `address`, and returns its depth.
extern "C" int __tsan_get_alloc_stack(std::uintptr_t address, void** trace, std::size_t size,
                                      int* thread, std::uint64_t* os_thread);
#endif

namespace corolane::coroutine::detail {
namespace {

// How many functions the thread sanitizer takes to be running; zero without it.
int noted_depth() {
#if defined(COROLANE_TSAN)
  const auto allocation = std::make_unique<int>(0);
  std::array<void*, 256> trace = {};
  int thread = 0;
  std::uint64_t os_thread = 0;
  return __tsan_get_alloc_stack(reinterpret_cast<std::uintptr_t>(allocation.get()), trace.data(),
                                trace.size(), &thread, &os_thread);
#else
  return 0;
#endif
}

// It has room for 65,536 functions, and copies them at each allocation.
TEST(ContextSwitchTest, TheThreadSanitizerForgetsAFlowThatHasEnded) {
  const int depth = noted_depth();
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(spawn("task", [] { static_cast<void>(yield()); }).join(Deadline::never()));
  }
  EXPECT_EQ(noted_depth(), depth);
}

}  // namespace
}  // namespace corolane::coroutine::detail
