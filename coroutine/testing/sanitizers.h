// What the tests run under, for the few that cannot say the same thing under all of it.
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

// Valgrind runs any build; it loads its replacements of malloc() first.
inline bool under_valgrind() {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::string_view(preloaded).contains("/vgpreload_");
}

// Sanitizers cost a factor of ten, valgrind one of fifty: whoever does the same thing very often
// does it less often then.
inline bool under_slow_watch() { return under_sanitizer || under_valgrind(); }

}  // namespace corolane::test
