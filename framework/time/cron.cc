// SPDX-License-Identifier: MIT
#include "framework/time/cron.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/base/text.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;

// A field: its smallest and largest value, and names for its first values.
struct Field {
  std::string_view name;
  unsigned min;
  unsigned max;
  std::span<const std::string_view> names;
  std::string_view allowed;

  std::uint64_t all() const { return bits(min, max, 1); }
  static std::uint64_t bits(unsigned first, unsigned last, unsigned step) {
    std::uint64_t bits = 0;
    for (unsigned i = first; i <= last; i += step) bits |= std::uint64_t{1} << i;
    return bits;
  }
};

constexpr auto month_names = std::to_array<std::string_view>(
    {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"});
constexpr auto weekday_names =
    std::to_array<std::string_view>({"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"});

constexpr unsigned sunday_as_seven = 7;

constexpr Field minute_field{"minute", 0, 59, {}, "0 to 59"};
constexpr Field hour_field{"hour", 0, 23, {}, "0 to 23"};
constexpr Field day_field{"day", 1, 31, {}, "1 to 31"};
constexpr Field month_field{"month", 1, 12, month_names, "1 to 12 and JAN to DEC"};
constexpr Field weekday_field{"weekday", 0, sunday_as_seven, weekday_names,
                              "0 to 7 (0 and 7 are Sunday) and SUN to SAT"};

// The days of each month; February as in a leap year.
constexpr auto days_of_month =
    std::to_array<unsigned>({0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31});

constexpr auto aliases = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
});

bool has(std::uint64_t bits, unsigned value) { return (bits >> value & 1) != 0; }

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::toupper(x) == std::toupper(y); });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  auto words = split(text, ' ');
  std::erase(words, "");
  return words;
}

Error wrong(const Field& field, const std::string& what) {
  return Error(Code::invalid_argument, std::string(field.name) + " " + what + "; allowed are " +
                                           std::string(field.allowed));
}

std::optional<unsigned> parse_number(std::string_view text) {
  unsigned value = 0;
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc() || rest != text.end()) return std::nullopt;
  return value;
}

Result<unsigned> parse_value(const Field& field, std::string_view text) {
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    if (equal_without_case(text, field.names[i])) return field.min + static_cast<unsigned>(i);
  }
  const auto value = parse_number(text);
  if (!value) {
    return wrong(field, quote(text) + (field.names.empty() ? " is not a number"
                                                           : " is neither a number nor a name"));
  }
  if (*value < field.min || *value > field.max) {
    return wrong(field, std::string(text) + " is out of range");
  }
  return *value;
}

// One entry of a list: "*", "5" or "1-5"; the first and the last may have a step.
Result<std::uint64_t> parse_entry(const Field& field, std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view range = text.substr(0, slash);
  const std::size_t dash = range.find('-');
  unsigned first = field.min;
  unsigned last = field.max;
  if (range != "*") {
    auto begin = parse_value(field, range.substr(0, dash));
    if (!begin) return begin.error();
    auto end = dash == std::string_view::npos ? begin : parse_value(field, range.substr(dash + 1));
    if (!end) return end.error();
    first = *begin;
    last = *end;
    // Allows FRI-SUN.
    if (field.max == sunday_as_seven && last == 0 && first > 0) last = sunday_as_seven;
  }
  if (first > last) {
    return wrong(field, "range " + std::string(range) + " ends before it begins; write two ranges");
  }
  if (slash == std::string_view::npos) return Field::bits(first, last, 1);
  if (range != "*" && dash == std::string_view::npos) {
    return wrong(field, std::string(text) + " has a step but no range: write " +
                            std::string(range) + "-" + std::to_string(field.max) +
                            std::string(text.substr(slash)));
  }
  const auto step = parse_number(text.substr(slash + 1));
  if (!step || *step == 0 || *step > field.max) {
    return wrong(field, "step " + quote(text.substr(slash + 1)) + " is not a number from 1 to " +
                            std::to_string(field.max));
  }
  return Field::bits(first, last, *step);
}

Result<std::uint64_t> parse_field(const Field& field, std::string_view text) {
  std::uint64_t bits = 0;
  for (const std::string_view entry : split(text, ',')) {
    auto parsed = parse_entry(field, entry);
    if (!parsed) return parsed;
    bits |= *parsed;
  }
  return bits;
}

Error wrong_count(std::size_t count) {
  std::string message = "five fields are expected (minute hour day month weekday), not " +
                        std::to_string(count) + "; or one of";
  for (const auto& [name, fields] : aliases) message.append(" ").append(name);
  return Error(Code::invalid_argument, std::move(message));
}

}  // namespace

Result<CronExpression> CronExpression::parse(std::string_view text) {
  const auto in_context = [text](Error error) {
    return std::move(error).with_context("cron " + quote(text));
  };
  auto words = words_of(text);
  if (words.size() == 1) {
    const auto alias = std::ranges::find_if(
        aliases, [&](const auto& known) { return equal_without_case(words[0], known.first); });
    if (alias != aliases.end()) words = words_of(alias->second);
  }
  if (words.size() != 5) return in_context(wrong_count(words.size()));

  CronExpression parsed;
  const auto parts = std::to_array<std::pair<const Field*, std::uint64_t*>>({
      {&minute_field, &parsed.minutes_},
      {&hour_field, &parsed.hours_},
      {&day_field, &parsed.days_},
      {&month_field, &parsed.months_},
      {&weekday_field, &parsed.weekdays_},
  });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto bits = parse_field(*parts[i].first, words[i]);
    if (!bits) return in_context(bits.error());
    *parts[i].second = *bits;
  }
  if (has(parsed.weekdays_, sunday_as_seven)) parsed.weekdays_ |= 1;
  parsed.weekdays_ &= ~(std::uint64_t{1} << sunday_as_seven);
  parsed.any_day_ = parsed.days_ == day_field.all();
  parsed.any_weekday_ = parsed.weekdays_ == Field::bits(0, 6, 1);

  bool has_such_a_day = false;
  for (unsigned month = 1; month < days_of_month.size(); ++month) {
    if (!has(parsed.months_, month)) continue;
    has_such_a_day =
        has_such_a_day || (parsed.days_ & Field::bits(1, days_of_month[month], 1)) != 0;
  }
  if (!has_such_a_day) {
    return in_context(wrong(day_field, std::string(words[2]) + " is in no month " +
                                           std::string(words[3]) + " of any year"));
  }
  return parsed;
}

bool CronExpression::is_on(local_days day) const {
  const std::chrono::year_month_day date(day);
  if (!has(months_, static_cast<unsigned>(date.month()))) return false;
  const bool is_day = has(days_, static_cast<unsigned>(date.day()));
  const bool is_weekday = has(weekdays_, std::chrono::weekday(day).c_encoding());
  return any_day_ || any_weekday_ ? is_day && is_weekday : is_day || is_weekday;
}

bool CronExpression::is_of_every_hour() const { return hours_ == hour_field.all(); }

local_days CronExpression::first_day(local_days day) const {
  const local_days end = day + std::chrono::days(8 * 366 + 1);
  while (!is_on(day)) {
    ++day;
    check(day < end, "a cron expression has a day within eight years");
  }
  return day;
}

WallTime CronExpression::next(WallTime time, const TimeZone& zone) const {
  return is_of_every_hour() ? next_by_real_time(time, zone) : next_by_local_time(time, zone);
}

// Walks local times in order: first_at() never decreases along them.
WallTime CronExpression::next_by_local_time(WallTime time, const TimeZone& zone) const {
  const auto begin = std::chrono::floor<std::chrono::minutes>(zone.local(time)) + 1min;
  auto day = std::chrono::floor<std::chrono::days>(begin);
  for (;; ++day) {
    day = first_day(day);
    for (unsigned hour = 0; hour <= hour_field.max; ++hour) {
      if (!has(hours_, hour)) continue;
      for (unsigned minute = 0; minute <= minute_field.max; ++minute) {
        const auto local = day + std::chrono::hours(hour) + std::chrono::minutes(minute);
        if (!has(minutes_, minute) || local < begin) continue;
        const WallTime first = zone.first_at(local);
        if (first > time) return first;
      }
    }
  }
}

// Walks real minutes: every hour has a match.
WallTime CronExpression::next_by_real_time(WallTime time, const TimeZone& zone) const {
  for (time = std::chrono::floor<std::chrono::seconds>(time);;) {
    const LocalTime before = zone.local(time);
    time += 1min - (before - std::chrono::floor<std::chrono::minutes>(before));
    const LocalTime local = zone.local(time);
    const auto day = std::chrono::floor<std::chrono::days>(local);
    if (const auto first = first_day(day); first != day) {
      // Jumps to just before that day's midnight. When midnight exists twice, its first one may
      // have passed: time never goes back.
      time = std::max(time, zone.first_at(first) - 1min);
      continue;
    }
    const auto minute_of_day = std::chrono::floor<std::chrono::minutes>(local - day).count();
    if (has(minutes_, static_cast<unsigned>(minute_of_day % 60))) return time;
  }
}

}  // namespace corolane::framework
