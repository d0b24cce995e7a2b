// A value, or the Error that says why there is none.
//
//   Result<Stack> acquire();
//   auto stack = pool.acquire();
//   if (!stack) return stack.error();
//
// std::expected<T, Error> that converts from Error, so that `return error;` works in a function
// that returns a Result, whatever its T.
#pragma once

#include <expected>
#include <ostream>
#include <utility>

#include "coroutine/base/error.h"

namespace corolane {

template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(Error error) : std::expected<T, Error>(std::unexpect, std::move(error)) {}
};

template <typename T>
inline constexpr bool is_result = false;
template <typename T>
inline constexpr bool is_result<Result<T>> = true;

// Prints the error, or "ok": what a failing test shows.
template <typename T>
std::ostream& operator<<(std::ostream& out, const Result<T>& result) {
  return result ? out << "ok" : out << result.error();
}

}  // namespace corolane
