// SPDX-License-Identifier: MIT
// The allowed values of a field: between(1s, 24h), at_least(1), at_most(64 * kibibyte),
// where(is_name).
//
//   section.field("clock", value.clock, "Thinking time.", between(1s, 24h));
//   section.field("upload", value.upload, "The largest picture.", at_most(64 * kibibyte));
//   section.field("map", value.map, "The first map.", where(is_map, "the name of a map"));
//
// A bound keeps the type in which it is written: it is compared with the field's value without
// conversion, and printed with its unit.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "config/detail/scalar.h"
#include "coroutine/base/result.h"

namespace corolane::config {

struct Unlimited {};

// Both bounds are allowed values; either may be Unlimited.
template <typename Low = Unlimited, typename High = Unlimited>
struct Limits {
  [[no_unique_address]] Low low;
  [[no_unique_address]] High high;
};

template <typename Low>
constexpr Limits<Low, Unlimited> at_least(Low low) {
  return {low, {}};
}

template <typename High>
constexpr Limits<Unlimited, High> at_most(High high) {
  return {{}, high};
}

template <typename Low, typename High>
constexpr Limits<Low, High> between(Low low, High high) {
  return {low, high};
}

// Allows every value that `check` accepts: Result<void> check(const T&), whose error says what is
// wrong. `allowed` describes these values in advance: "address:port".
template <typename Check>
struct Where {
  Check check;
  std::string_view allowed;
};

template <typename Check>
constexpr Where<Check> where(Check check, std::string_view allowed = {}) {
  return {check, allowed};
}

namespace detail {

template <typename A, typename B>
constexpr bool is_less(const A& a, const B& b) {
  if constexpr (std::is_same_v<A, Unlimited> || std::is_same_v<B, Unlimited>) {
    return false;
  } else if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    return std::cmp_less(a, b);
  } else {
    return a < b;
  }
}

template <typename T, typename Low, typename High>
constexpr bool is_within(const T& value, const Limits<Low, High>& limits) {
  return !is_less(value, limits.low) && !is_less(limits.high, value);
}

// "at least 1", "between 1s and 1d"; empty without limits.
template <typename Low, typename High>
std::string describe_limits(const Limits<Low, High>& limits) {
  constexpr bool has_low = !std::is_same_v<Low, Unlimited>;
  constexpr bool has_high = !std::is_same_v<High, Unlimited>;
  if constexpr (has_low && has_high) {
    return "between " + ScalarTraits<Low>::format(limits.low) + " and " +
           ScalarTraits<High>::format(limits.high);
  } else if constexpr (has_low) {
    return "at least " + ScalarTraits<Low>::format(limits.low);
  } else if constexpr (has_high) {
    return "at most " + ScalarTraits<High>::format(limits.high);
  } else {
    return {};
  }
}

template <typename Check>
std::string describe_limits(const Where<Check>& where) {
  return std::string(where.allowed);
}

// Fails with a message to the operator who wrote `text`, which was parsed as `value`.
template <typename T, typename Low, typename High>
Result<void> check_limits(std::string_view text, const T& value, const Limits<Low, High>& limits) {
  if (is_within(value, limits)) return {};
  return misread(text, describe_limits(limits));
}

template <typename T, typename Check>
Result<void> check_limits(std::string_view, const T& value, const Where<Check>& where) {
  return where.check(value);
}

}  // namespace detail
}  // namespace corolane::config
