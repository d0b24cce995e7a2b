#include "framework/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::framework {
namespace {

// Whole numbers in full, others in the shortest form that reads back the same.
std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  constexpr double exact_max = 9007199254740992.0;  // 2^53
  const bool whole = std::trunc(value) == value && std::abs(value) <= exact_max;
  std::array<char, 32> digits;
  char* const begin = digits.data();
  char* const end = begin + digits.size();
  const auto written = whole ? std::to_chars(begin, end, static_cast<std::int64_t>(value))
                             : std::to_chars(begin, end, value);
  return {begin, written.ptr};
}

// As check(), with the metric at fault.
void require(bool holds, std::string_view name, std::string_view claim) {
  if (!holds) check(false, std::string(claim).append(": ").append(name));
}

bool is_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

// What the format asks for: backslash and line feed everywhere, the quote in label values.
std::string escaped(std::string_view text, bool in_quotes) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\\' || (in_quotes && c == '"')) {
      result.append({'\\', c});
    } else {
      result += c;
    }
  }
  return result;
}

// `a="1",b="2"`, without the braces.
std::string labels_text(MetricWriter::Labels labels) {
  std::string text;
  for (const MetricLabel& label : labels) {
    require(is_name(label.name) && label.name != "le", label.name,
            "the name of a label is lower_case and not le");
    if (!text.empty()) text += ',';
    text.append(label.name).append("=\"").append(escaped(label.value, true)).append("\"");
  }
  return text;
}

void append_sample(std::string& out, std::string_view name, std::string_view suffix,
                   std::string_view labels, double value) {
  out.append(name).append(suffix);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(number_text(value)).append("\n");
}

}  // namespace

void MetricWriter::counter(std::string_view name, std::string_view help, Labels labels,
                           MetricValue value) {
  require(name.ends_with("_total"), name, "the name of a counter ends in _total");
  const std::string key = labels_text(labels);
  append_sample(series(name, help, "counter", key), name, "", key, value.number());
}

void MetricWriter::gauge(std::string_view name, std::string_view help, Labels labels,
                         MetricValue value) {
  require(!name.ends_with("_total"), name, "only the name of a counter ends in _total");
  const std::string key = labels_text(labels);
  append_sample(series(name, help, "gauge", key), name, "", key, value.number());
}

void MetricWriter::histogram(std::string_view name, std::string_view help, Labels labels,
                             const Histogram& values, const MetricBuckets& buckets) {
  require(!name.ends_with("_total"), name, "only the name of a counter ends in _total");
  const bool rising =
      std::ranges::adjacent_find(buckets.bounds, std::greater_equal{}) == buckets.bounds.end();
  require(rising, name, "the bounds of a histogram rise");
  const std::string key = labels_text(labels);
  std::string& lines = series(name, help, "histogram", key);
  const auto append_bucket = [&](std::string_view bound, std::uint64_t count) {
    std::string series_labels = key;
    if (!series_labels.empty()) series_labels += ',';
    series_labels.append("le=\"").append(bound).append("\"");
    append_sample(lines, name, "_bucket", series_labels, static_cast<double>(count));
  };
  for (const std::uint64_t bound : buckets.bounds) {
    append_bucket(number_text(static_cast<double>(bound) / buckets.units_per_base),
                  values.count_up_to(bound));
  }
  append_bucket("+Inf", values.count());
  append_sample(lines, name, "_sum", key,
                static_cast<double>(values.sum()) / buckets.units_per_base);
  append_sample(lines, name, "_count", key, static_cast<double>(values.count()));
}

std::string& MetricWriter::series(std::string_view name, std::string_view help,
                                  std::string_view type, const std::string& labels) {
  auto found = families_.find(name);
  if (found == families_.end()) {
    require(is_name(name), name, "the name of a metric is lower_case");
    require(help.ends_with('.'), name, "the help of a metric is a sentence");
    found = families_.emplace(name, Family{std::string(help), type, {}}).first;
  }
  Family& family = found->second;
  require(family.help == help && family.type == type, name, "a metric has one help and one type");
  const auto [place, is_new] = family.series.emplace(labels, "");
  require(is_new, name, "a series has one value in a scrape");
  return place->second;
}

std::string MetricWriter::text() const {
  std::string text;
  for (const auto& [name, family] : families_) {
    text.append("# HELP ").append(name).append(" ").append(escaped(family.help, false));
    text.append("\n# TYPE ").append(name).append(" ").append(family.type).append("\n");
    for (const auto& [labels, lines] : family.series) text.append(lines);
  }
  return text;
}

std::string Metrics::text() const {
  MetricWriter out;
  for (const Collector& collect : collectors_) collect(out);
  return out.text();
}

}  // namespace corolane::framework
