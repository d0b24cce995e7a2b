// SPDX-License-Identifier: MIT
// Tells which sanitizer this build uses: sanitizers have to be notified of every change of stack.
//
// Tasks have more members with one, and larger stacks. So a program and the library must be built
// with the same one, or the linker refuses them: every file that includes this refers to a symbol
// that only a matching library defines. The name of the symbol is what the linker reports, so it
// says the reason and the remedy.
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

#if defined(COROLANE_ASAN)
#define COROLANE_LIBRARY_THAT_FITS \
  corolane_library_is_built_without_address_sanitizer_set_COROLANE_SANITIZE_in_CMake
#elif defined(COROLANE_TSAN)
#define COROLANE_LIBRARY_THAT_FITS \
  corolane_library_is_built_without_thread_sanitizer_set_COROLANE_SANITIZE_in_CMake
#else
#define COROLANE_LIBRARY_THAT_FITS \
  corolane_library_is_built_with_a_sanitizer_set_COROLANE_SANITIZE_in_CMake
#endif
#if defined(COROLANE_TSAN)
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
}
#endif
// Defined in sanitizer.cc.
extern "C" const char COROLANE_LIBRARY_THAT_FITS;

namespace corolane::coroutine::detail {

// Kept by the compiler and by --gc-sections, although it is never read.
[[gnu::used, gnu::retain]] static const char* const library_that_fits = &COROLANE_LIBRARY_THAT_FITS;

// While it lives, the calling thread reads what another thread may change, and expects any value:
// the thread sanitizer reports no races of these reads.
class RacyReads {
 public:
#if defined(COROLANE_TSAN)
  RacyReads() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~RacyReads() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
#else
  RacyReads() {}   // NOLINT(modernize-use-equals-default): so that it counts as used.
  ~RacyReads() {}  // NOLINT(modernize-use-equals-default)
#endif
  RacyReads(const RacyReads&) = delete;
  RacyReads& operator=(const RacyReads&) = delete;
};

// Instrumented frames are several times larger, so stacks are too.
#if defined(COROLANE_ASAN) || defined(COROLANE_TSAN)
inline constexpr int stack_size_factor = 4;
#else
inline constexpr int stack_size_factor = 1;
#endif

}  // namespace corolane::coroutine::detail
