// SPDX-License-Identifier: MIT
// One parser and one formatter for both families of units; a family is a table.
#include "config/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "config/detail/text.h"

namespace corolane::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

struct Family {
  std::span<const Unit> units;  // Largest first, the unit of size one last.
  std::string_view zero;        // The spelling of zero.
  std::uint64_t amount_max;
  std::string_view beyond;  // The message for a value above amount_max.
  std::string_view whole;   // The unit of size one, in words.
  std::string_view expected;
};

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::array<Unit, 7> duration_units = {{
    {"d", 86'400 * second},
    {"h", 3'600 * second},
    {"min", 60 * second},
    {"s", second},
    {"ms", 1'000'000},
    {"us", 1'000},
    {"ns", 1},
}};
constexpr Family durations = {
    .units = duration_units,
    .zero = "0s",
    .amount_max = std::numeric_limits<std::int64_t>::max(),
    .beyond = ", longer than 292 years",
    .whole = "nanoseconds",
    .expected = "a duration, such as 250ms or 1.5h (units: ns, us, ms, s, min, h, d)",
};

constexpr std::array<Unit, 7> byte_units = {{
    {"GiB", gibibyte.count},
    {"GB", 1'000'000'000},
    {"MiB", mebibyte.count},
    {"MB", 1'000'000},
    {"KiB", kibibyte.count},
    {"KB", 1'000},
    {"B", 1},
}};
constexpr Family byte_counts = {
    .units = byte_units,
    .zero = "0B",
    .amount_max = std::numeric_limits<std::uint64_t>::max(),
    .beyond = ", more than 64 bits can count",
    .whole = "bytes",
    .expected = "a byte count, such as 64KiB or 1.5MB (units: B, KiB, MiB, GiB, KB, MB, GB)",
};

// Cuts the leading decimal digits off `text` and returns them.
std::string_view take_digits(std::string_view& text) {
  const std::size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

// `digits` units; nothing when the product does not fit.
std::optional<std::uint64_t> whole_part(std::string_view digits, std::uint64_t unit) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  std::uint64_t amount = 0;
  if (read.ec != std::errc{} || __builtin_mul_overflow(number, unit, &amount)) return {};
  return amount;
}

// 0.`digits` units; nothing when the result is not whole.
std::optional<std::uint64_t> fraction_part(std::string_view digits, std::uint64_t unit) {
  // From the last digit to the first, each step divides the value of the digits so far by ten. The
  // sum is whole only if every step is, and no step exceeds ten units.
  std::uint64_t amount = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    amount += static_cast<std::uint64_t>(*digit - '0') * unit;
    if (amount % 10 != 0) return {};
    amount /= 10;
  }
  return amount;
}

Result<std::uint64_t> parse(std::string_view text, const Family& family) {
  const auto refuse = [&](std::string_view reason) {
    return Error(Code::invalid_argument, "read " + detail::excerpt(text) + std::string(reason) +
                                             "; expected " + std::string(family.expected));
  };
  if (text == "0") return 0;

  std::string_view rest = text;
  const std::string_view whole_digits = take_digits(rest);
  std::string_view fraction_digits;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction_digits = take_digits(rest);
    if (fraction_digits.empty()) return refuse("");
  }
  if (whole_digits.empty()) return refuse("");
  if (rest.empty()) return refuse(" without a unit");

  const auto unit = std::ranges::find(family.units, rest, &Unit::name);
  if (unit == family.units.end()) {
    return refuse(" with an unknown unit " + detail::excerpt(rest));
  }
  const auto whole = whole_part(whole_digits, unit->size);
  if (!whole) return refuse(family.beyond);
  const auto fraction = fraction_part(fraction_digits, unit->size);
  if (!fraction) return refuse(", not a whole number of " + std::string(family.whole));
  std::uint64_t amount = 0;
  if (__builtin_add_overflow(*whole, *fraction, &amount) || amount > family.amount_max) {
    return refuse(family.beyond);
  }
  return amount;
}

std::string format(std::uint64_t amount, const Family& family) {
  if (amount == 0) return std::string(family.zero);
  const auto divides = [&](const Unit& unit) { return amount % unit.size == 0; };
  const auto unit = std::ranges::find_if(family.units, divides);
  return std::to_string(amount / unit->size).append(unit->name);
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto amount = parse(text, durations);
  if (!amount) return amount.error();
  return Duration(static_cast<Duration::rep>(*amount));
}

Result<Bytes> parse_bytes(std::string_view text) {
  const auto count = parse(text, byte_counts);
  if (!count) return count.error();
  return Bytes{*count};
}

std::string format_duration(Duration duration) {
  const auto amount = static_cast<std::uint64_t>(duration.count());
  return duration < Duration::zero() ? "-" + format(-amount, durations) : format(amount, durations);
}

std::string format_bytes(Bytes bytes) { return format(bytes.count, byte_counts); }

}  // namespace corolane::config
