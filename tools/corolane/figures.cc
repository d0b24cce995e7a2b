// SPDX-License-Identifier: MIT
#include "tools/corolane/figures.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>

namespace corolane::tools::cli {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

// Three digits in the largest unit that leaves a digit before the decimal point.
std::string three_digits(double value, std::span<const Unit> units, std::string_view blank) {
  Unit unit = units.front();
  // A value that would be rounded to a thousand uses the next unit.
  for (const Unit& next : units) {
    if (value >= next.size * 0.9995) unit = next;
  }
  const double scaled = value / unit.size;
  std::array<char, 32> digits;
  const int decimals = scaled < 9.995 ? 2 : (scaled < 99.95 ? 1 : 0);
  std::snprintf(digits.data(), digits.size(), "%.*f", decimals, scaled);
  return digits.data() + std::string(unit.name.empty() ? "" : blank) + std::string(unit.name);
}

bool is_small_whole(double value) {
  return value < 999.5 && value == static_cast<double>(static_cast<std::int64_t>(value));
}

}  // namespace

std::string count_text(double count) {
  static constexpr auto units =
      std::to_array<Unit>({{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}});
  if (is_small_whole(count)) return std::to_string(static_cast<std::int64_t>(count));
  return three_digits(count, units, "");
}

std::string bytes_text(double bytes) {
  static constexpr auto units =
      std::to_array<Unit>({{1, "B"}, {1024.0, "KiB"}, {1048576.0, "MiB"}, {1073741824.0, "GiB"}});
  if (is_small_whole(bytes)) return std::to_string(static_cast<std::int64_t>(bytes)) + " B";
  return three_digits(bytes, units, " ");
}

std::string time_text(double ns) {
  static constexpr auto units =
      std::to_array<Unit>({{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}});
  if (is_small_whole(ns)) return std::to_string(static_cast<std::int64_t>(ns)) + " ns";
  return three_digits(ns, units, " ");
}

std::string age_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  std::array<char, 64> text;
  if (whole < 60) {
    std::snprintf(text.data(), text.size(), "%.1fs", seconds);
  } else if (whole < 3600) {
    std::snprintf(text.data(), text.size(), "%ldm %02lds", whole / 60, whole % 60);
  } else if (whole < 86400) {
    std::snprintf(text.data(), text.size(), "%ldh %02ldm", whole / 3600, whole / 60 % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%ldd %02ldh", whole / 86400, whole / 3600 % 24);
  }
  return text.data();
}

std::string percent_text(double share) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f %%", share * 100);
  return text.data();
}

}  // namespace corolane::tools::cli
