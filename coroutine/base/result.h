// SPDX-License-Identifier: MIT
// A value, or the Error that says why there is none.
//
//   Result<Stack> acquire();
//
//   auto stack = pool.acquire();
//   if (!stack) return stack.error();
//
// std::expected<T, Error> that converts from Error, so that `return error;` works in a function
// that returns a Result, whatever its T.
#pragma once

#include <expected>
#include <ostream>
#include <type_traits>
#include <utility>
#include <version>

#if !defined(__cpp_lib_expected)
#error "corolane needs std::expected: g++ 12 or clang++ 19, or a newer one, with -std=c++23"
#endif

#include "coroutine/base/error.h"

namespace corolane {

template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(Error error) : std::expected<T, Error>(std::unexpect, std::move(error)) {}
};

// Equal values, or equal errors. (Otherwise the comparison of std::expected with any type would
// apply, and compare a Result with itself for ever.)
template <typename T>
bool operator==(const Result<T>& a, const Result<T>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return a.error() == b.error();
  if constexpr (std::is_void_v<T>) {
    return true;
  } else {
    return *a == *b;
  }
}

// Prints the error, or "ok": for the output of a failing test.
template <typename T>
std::ostream& operator<<(std::ostream& out, const Result<T>& result) {
  return result ? out << "ok" : out << result.error();
}

}  // namespace corolane
