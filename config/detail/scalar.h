// SPDX-License-Identifier: MIT
// Converts one scalar between its text and its type.
//
// ScalarTraits<T> has a name, "duration", and three functions: expected() describes what T accepts,
// with an example; parse() reads a text or fails with "read "lots"; expected ..."; format() returns
// what parse() reads back, as a YAML scalar.
#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <limits>
#include <source_location>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "config/choice.h"
#include "config/detail/text.h"
#include "config/units.h"
#include "coroutine/base/check.h"
#include "coroutine/base/result.h"

namespace corolane::config::detail {

template <typename T>
struct ScalarTraits {};

template <typename T>
concept Scalar = requires { ScalarTraits<T>::expected(); };

template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

// Durations that hold whole units and convert to nanoseconds without a cast.
template <typename T>
concept ChronoDuration = std::convertible_to<T, Duration> && requires(T value) {
  requires std::same_as<typename T::rep, Duration::rep>;
};

// "read "lots"; expected `expected`".
Error misread(std::string_view text, std::string_view expected);

// Reads all of `text`; false when it contains anything else or the number does not fit.
template <typename T>
bool read_number(std::string_view text, T& value) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto read = std::from_chars(begin, end, value);
  return read.ec == std::errc{} && read.ptr == end;
}

template <>
struct ScalarTraits<bool> {
  static constexpr std::string_view name = "bool";
  static std::string expected() { return "true or false"; }
  static Result<bool> parse(std::string_view text);
  static std::string format(bool value) { return value ? "true" : "false"; }
};

template <>
struct ScalarTraits<double> {
  static constexpr std::string_view name = "number";
  static std::string expected() { return "a number, such as 0.5"; }
  static Result<double> parse(std::string_view text);
  static std::string format(double value);
};

template <>
struct ScalarTraits<std::string> {
  static constexpr std::string_view name = "text";
  static std::string expected() { return "text, such as \"some words\""; }
  static Result<std::string> parse(std::string_view text) { return std::string(text); }
  static std::string format(std::string_view value);
};

template <>
struct ScalarTraits<Bytes> {
  static constexpr std::string_view name = "bytes";
  static std::string expected() { return "a byte count, such as 64KiB"; }
  static Result<Bytes> parse(std::string_view text) { return parse_bytes(text); }
  static std::string format(Bytes value) { return format_bytes(value); }
};

template <Integer T>
struct ScalarTraits<T> {
  static constexpr std::string_view name = "integer";
  static std::string expected() {
    return "a whole number from " + format(std::numeric_limits<T>::min()) + " to " +
           format(std::numeric_limits<T>::max()) + ", such as 42";
  }
  static Result<T> parse(std::string_view text) {
    T value = 0;
    if (read_number(text, value)) return value;
    return misread(text, expected());
  }
  static std::string format(T value) { return std::to_string(value); }
};

template <ChronoDuration T>
struct ScalarTraits<T> {
  static constexpr std::string_view name = "duration";
  static std::string expected() { return "a duration, such as 250ms"; }
  static Result<T> parse(std::string_view text) {
    const auto duration = parse_duration(text);
    if (!duration) return duration.error();
    const T value = std::chrono::duration_cast<T>(*duration);
    if (value != *duration) return misread(text, "a multiple of " + format_duration(T(1)));
    return value;
  }
  static std::string format(T value) {
    check(value <= std::chrono::duration_cast<T>(Duration::max()), "a duration is below 292 years");
    return format_duration(value);
  }
};

// The index of `text` in `names`; a failure suggests the nearest name.
Result<std::size_t> parse_choice(std::string_view text, const std::vector<std::string>& names);

template <Choosable T>
struct ScalarTraits<T> {
  static constexpr std::string_view name = "choice";
  static std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const auto& choice : choices(T{})) result.emplace_back(choice.name);
    return result;
  }
  static std::string expected() { return "one of " + join(names()); }
  static Result<T> parse(std::string_view text) {
    const auto index = parse_choice(text, names());
    if (!index) return index.error();
    return choices(T{})[*index].value;
  }
  static std::string format(T value) {
    for (const auto& choice : choices(T{})) {
      if (choice.value == value) return ScalarTraits<std::string>::format(choice.name);
    }
    corolane::detail::check_failed("every enumerator in use is one of the choices",
                                   std::source_location::current());
  }
};

}  // namespace corolane::config::detail
