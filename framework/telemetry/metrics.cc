// SPDX-License-Identifier: MIT
#include "framework/telemetry/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
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

// Like check(); names the metric at fault.
void require(bool holds, std::string_view name, std::string_view claim) {
  if (!holds) check(false, std::string(claim).append(": ").append(name));
}

bool is_metric_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

// Escapes as the format requires: backslash and line feed everywhere, the quote in label values.
std::string prometheus_escaped(std::string_view text, bool in_quotes) {
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
    require(is_metric_name(label.name) && label.name != "le", label.name,
            "the name of a label is lower_case and not le");
    if (!text.empty()) text += ',';
    text.append(label.name)
        .append("=\"")
        .append(prometheus_escaped(label.value, true))
        .append("\"");
  }
  return text;
}

void append_sample(std::string& out, std::string_view name, std::string_view suffix,
                   std::string_view labels, double value) {
  out.append(name).append(suffix);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(number_text(value)).append("\n");
}

// `values` has the count up to each bound, the total count, and the sum.
void append_histogram(std::string& out, std::string_view name, const std::string& labels,
                      const std::vector<double>& bounds, const std::vector<double>& values) {
  const auto append_bucket = [&](std::string_view bound, double count) {
    std::string series_labels = labels;
    if (!series_labels.empty()) series_labels += ',';
    series_labels.append("le=\"").append(bound).append("\"");
    append_sample(out, name, "_bucket", series_labels, count);
  };
  for (std::size_t i = 0; i < bounds.size(); ++i) append_bucket(number_text(bounds[i]), values[i]);
  const double count = values[bounds.size()];
  append_bucket("+Inf", count);
  append_sample(out, name, "_sum", labels, values.back());
  append_sample(out, name, "_count", labels, count);
}

}  // namespace

void MetricWriter::counter(std::string_view name, std::string_view help, Labels labels,
                           MetricValue value) {
  require(name.ends_with("_total"), name, "the name of a counter ends in _total");
  add_series(name, {.help = std::string(help), .type = "counter"}, labels_text(labels),
             {value.number()});
}

void MetricWriter::gauge(std::string_view name, std::string_view help, Labels labels,
                         MetricValue value) {
  require(!name.ends_with("_total"), name, "only the name of a counter ends in _total");
  add_series(name, {.help = std::string(help), .type = "gauge"}, labels_text(labels),
             {value.number()});
}

void MetricWriter::histogram(std::string_view name, std::string_view help, Labels labels,
                             const Histogram& values, const MetricBuckets& buckets) {
  require(!name.ends_with("_total"), name, "only the name of a counter ends in _total");
  const bool rising =
      std::ranges::adjacent_find(buckets.bounds, std::greater_equal{}) == buckets.bounds.end();
  require(rising, name, "the bounds of a histogram rise");
  Kind kind{.help = std::string(help), .type = "histogram"};
  Values counts;
  for (const std::uint64_t bound : buckets.bounds) {
    kind.bounds.push_back(static_cast<double>(bound) / buckets.units_per_base);
    counts.push_back(static_cast<double>(values.count_up_to(bound)));
  }
  counts.push_back(static_cast<double>(values.count()));
  counts.push_back(static_cast<double>(values.sum()) / buckets.units_per_base);
  add_series(name, kind, labels_text(labels), std::move(counts));
}

// Finds the family of that name, or adds one without series.
MetricWriter::Family& MetricWriter::family(std::string_view name, const Kind& kind) {
  auto found = families_.find(name);
  if (found == families_.end()) {
    require(is_metric_name(name), name, "the name of a metric is lower_case");
    require(kind.help.ends_with('.'), name, "the help of a metric is a sentence");
    found = families_.emplace(name, Family{.kind = kind}).first;
  }
  const Kind& known = found->second.kind;
  require(known.help == kind.help && known.type == kind.type, name,
          "a metric has one help and one type");
  require(known.bounds == kind.bounds, name, "a histogram has one set of bounds");
  return found->second;
}

void MetricWriter::add_series(std::string_view name, const Kind& kind, std::string labels,
                              Values values) {
  auto& series = family(name, kind).series;
  const bool is_new = series.emplace(std::move(labels), std::move(values)).second;
  require(is_new, name, "a series has one value in a scrape");
}

void MetricWriter::add(const MetricWriter& other) {
  for (const auto& [name, theirs] : other.families_) {
    auto& ours = family(name, theirs.kind).series;
    for (const auto& [labels, values] : theirs.series) {
      const auto [place, is_new] = ours.emplace(labels, values);
      if (is_new) continue;
      std::ranges::transform(place->second, values, place->second.begin(), std::plus{});
    }
  }
}

void MetricWriter::add_apart(const MetricWriter& other, const MetricLabel& label) {
  const std::string suffix = labels_text({label});
  for (const auto& [name, theirs] : other.families_) {
    for (const auto& [labels, values] : theirs.series) {
      add_series(name, theirs.kind, labels.empty() ? suffix : labels + "," + suffix, values);
    }
  }
}

std::string MetricWriter::text() const {
  std::string text;
  for (const auto& [name, family] : families_) {
    text.append("# HELP ").append(name).append(" ").append(
        prometheus_escaped(family.kind.help, false));
    text.append("\n# TYPE ").append(name).append(" ").append(family.kind.type).append("\n");
    for (const auto& [labels, values] : family.series) {
      if (family.kind.type == "histogram") {
        append_histogram(text, name, labels, family.kind.bounds, values);
      } else {
        append_sample(text, name, "", labels, values.front());
      }
    }
  }
  return text;
}

void Metrics::collect(MetricWriter& out) const {
  for (const Collector& collect : collectors_) collect(out);
}

std::string Metrics::text() const {
  MetricWriter out;
  collect(out);
  return out.text();
}

}  // namespace corolane::framework
