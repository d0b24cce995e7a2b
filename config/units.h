// SPDX-License-Identifier: MIT
// Durations and byte counts as people write them: 250ms, 1.5h, 64KiB.
//
//   auto timeout = parse_duration("1.5h");
//   if (!timeout) return timeout.error();
//   std::cout << format_duration(*timeout) << ", " << format_bytes(64 * kibibyte) << '\n';
//
// Without units, a timeout of ten seconds becomes one of ten milliseconds. So a unit is part of the
// value; only "0" needs none. Fractions are exact or refused.
#pragma once

#include <compare>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include "coroutine/base/check.h"
#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"

namespace corolane::config {

// A number of bytes. A type of its own, so that setting it requires a unit.
struct Bytes {
  std::uint64_t count = 0;

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
};

inline constexpr Bytes kibibyte = {std::uint64_t{1} << 10};
inline constexpr Bytes mebibyte = {std::uint64_t{1} << 20};
inline constexpr Bytes gibibyte = {std::uint64_t{1} << 30};

// 64 * kibibyte. The product must fit.
constexpr Bytes operator*(std::uint64_t count, Bytes unit) {
  Bytes product;
  if (__builtin_mul_overflow(count, unit.count, &product.count)) {
    corolane::detail::check_failed("a byte count fits 64 bits", std::source_location::current());
  }
  return product;
}

// Reads "250ms", "1.5h" or "0"; units are ns, us, ms, s, min, h and d. Never negative. Fails with
// invalid_argument and a message that contains the text, the expected form and an example.
Result<Duration> parse_duration(std::string_view text);

// Reads "64KiB", "1.5MB" or "0"; units are B, KiB, MiB, GiB, KB, MB and GB. Fails as above.
Result<Bytes> parse_bytes(std::string_view text);

// The shortest exact spelling in one unit, "1500ms"; parse_duration reads it back unless it is
// negative.
std::string format_duration(Duration duration);

// The same for byte counts, "64KiB"; parse_bytes reads it back.
std::string format_bytes(Bytes bytes);

}  // namespace corolane::config
