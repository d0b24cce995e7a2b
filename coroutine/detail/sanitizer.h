// Which sanitizer this build carries: they must be told of every change of stack.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define COROLANE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COROLANE_ASAN 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define COROLANE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COROLANE_TSAN 1
#endif
#endif

#if defined(COROLANE_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(COROLANE_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace corolane::coroutine::detail {

// Instrumented frames are several times larger, so stacks are too.
#if defined(COROLANE_ASAN) || defined(COROLANE_TSAN)
inline constexpr int stack_size_factor = 4;
#else
inline constexpr int stack_size_factor = 1;
#endif

}  // namespace corolane::coroutine::detail
