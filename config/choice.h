// SPDX-License-Identifier: MIT
// Names the enumerators of an enum in a configuration.
//
// Declare it next to the enum, in its namespace, so that argument-dependent lookup finds it:
//
//   enum class LogLevel { debug, info, error };
//   constexpr auto choices(LogLevel) {
//     return std::to_array<config::Choice<LogLevel>>({
//         {"debug", LogLevel::debug}, {"info", LogLevel::info}, {"error", LogLevel::error}});
//   }
#pragma once

#include <string_view>
#include <type_traits>

namespace corolane::config {

template <typename Enum>
struct Choice {
  std::string_view name;
  Enum value;
};

namespace detail {

template <typename T>
concept Choosable = std::is_enum_v<T> && requires(T value) { choices(value).front().name; };

}  // namespace detail
}  // namespace corolane::config
