// SPDX-License-Identifier: MIT
// Tells tests under which sanitizer they run, for the few that behave differently there.
//
//   const int repetitions = under_slow_watch() ? 100 : 10'000;
#pragma once

#include <cstdlib>
#include <string_view>

namespace corolane::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool under_address_sanitizer = true;
#else
inline constexpr bool under_address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || defined(COROLANE_TSAN)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

inline constexpr bool under_sanitizer = under_address_sanitizer || under_thread_sanitizer;

// Valgrind runs any build; it preloads its replacements of malloc().
inline bool under_valgrind() {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::string_view(preloaded).contains("/vgpreload_");
}

// Sanitizers cost a factor of ten, valgrind a factor of fifty: a test with many repetitions does
// fewer of them there.
inline bool under_slow_watch() { return under_sanitizer || under_valgrind(); }

}  // namespace corolane::test
