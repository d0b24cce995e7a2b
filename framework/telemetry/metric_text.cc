// SPDX-License-Identifier: MIT
#include "framework/telemetry/metric_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

namespace corolane::framework {
namespace {

constexpr std::string_view total_suffix = "_total";

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

// In the form that OpenMetrics prescribes for bounds: "1.0", "0.0001", "5e-05", "1e+06".
std::string bound_text(double value) {
  std::array<char, 32> digits;
  const double size = std::abs(value);
  const bool is_plain = value == 0 || (size >= 1e-4 && size < 1e6);
  const auto form = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value, form);
  std::string text(digits.data(), written.ptr);
  if (is_plain && !text.contains('.')) text += ".0";
  return text;
}

void append_sample(std::string& out, std::string_view name, std::string_view suffix,
                   std::string_view labels, double value) {
  out.append(name).append(suffix);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(number_text(value)).append("\n");
}

// Prints the series of a histogram. `bound` prints a bound, and `append_mark` what follows a
// bucket.
template <typename Bound, typename AppendMark>
void append_histogram(std::string& out, std::string_view name, const std::string& labels,
                      const MetricFamily& family, const std::vector<double>& values, Bound bound,
                      AppendMark append_mark) {
  const std::vector<double>& bounds = family.kind.bounds;
  const auto append_bucket = [&](std::size_t bucket, const std::string& text, double count) {
    std::string series_labels = labels;
    if (!series_labels.empty()) series_labels += ',';
    series_labels.append("le=\"").append(text).append("\"");
    append_sample(out, name, "_bucket", series_labels, count);
    append_mark(bucket);
  };
  for (std::size_t i = 0; i < bounds.size(); ++i) append_bucket(i, bound(bounds[i]), values[i]);
  const double count = values[bounds.size()];
  append_bucket(bounds.size(), "+Inf", count);
  append_sample(out, name, "_sum", labels, values.back());
  append_sample(out, name, "_count", labels, count);
}

// Follows the sample of a bucket, in its line.
void append_exemplar(std::string& out, const MetricExemplar& exemplar) {
  out.pop_back();
  out.append(" # {trace_id=\"")
      .append(rpc::trace_id_text(exemplar.trace))
      .append("\",span_id=\"")
      .append(rpc::span_id_text(exemplar.trace.span_id))
      .append("\"} ")
      .append(number_text(exemplar.value));
  std::array<char, 48> time;
  const double seconds = std::chrono::duration<double>(exemplar.unix_time).count();
  const auto written = std::to_chars(time.data(), time.data() + time.size(), seconds,
                                     std::chars_format::fixed, /*precision=*/3);
  out.append(" ").append(time.data(), written.ptr).append("\n");
}

void append_open_histogram(std::string& out, std::string_view name, const std::string& labels,
                           const MetricFamily& family, const MetricFamily::Series& series) {
  append_histogram(out, name, labels, family, series.values, bound_text, [&](std::size_t bucket) {
    for (const MetricExemplar& exemplar : series.exemplars) {
      if (family.bucket_of(exemplar.value) == bucket) append_exemplar(out, exemplar);
    }
  });
}

void append_line(std::string& out, std::string_view word, std::string_view name,
                 std::string_view text) {
  out.append("# ").append(word).append(" ").append(name).append(" ").append(text).append("\n");
}

}  // namespace

std::string metric_escaped(std::string_view text, bool in_quotes) {
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

std::string_view metric_unit(std::string_view name) {
  if (name.ends_with(total_suffix)) name.remove_suffix(total_suffix.size());
  for (const std::string_view unit : {"seconds", "bytes"}) {
    const bool is_last = name.ends_with(unit) && name.size() > unit.size();
    if (is_last && name[name.size() - unit.size() - 1] == '_') return unit;
  }
  return {};
}

std::string prometheus_text(const MetricFamilies& families) {
  std::string text;
  for (const auto& [name, family] : families) {
    append_line(text, "HELP", name, metric_escaped(family.kind.help, false));
    append_line(text, "TYPE", name, family.kind.type);
    for (const auto& [labels, series] : family.series) {
      if (family.kind.type == "histogram") {
        append_histogram(text, name, labels, family, series.values, number_text,
                         [](std::size_t) {});
      } else {
        append_sample(text, name, "", labels, series.values.front());
      }
    }
  }
  return text;
}

std::string open_metrics_text(const MetricFamilies& families) {
  std::string text;
  for (const auto& [full_name, family] : families) {
    // The family of a counter is named without the suffix of its samples.
    const bool is_counter = family.kind.type == "counter";
    const std::string_view name =
        std::string_view(full_name).substr(0, full_name.size() - (is_counter ? 6 : 0));
    append_line(text, "TYPE", name, family.kind.type);
    if (const auto unit = metric_unit(name); !unit.empty()) append_line(text, "UNIT", name, unit);
    append_line(text, "HELP", name, metric_escaped(family.kind.help, true));
    for (const auto& [labels, series] : family.series) {
      if (family.kind.type == "histogram") {
        append_open_histogram(text, name, labels, family, series);
      } else {
        append_sample(text, full_name, "", labels, series.values.front());
      }
    }
  }
  return text.append("# EOF\n");
}

bool wants_open_metrics(std::string_view accept) {
  while (!accept.empty()) {
    const std::size_t end = std::min(accept.find(','), accept.size());
    std::string range;
    for (const char c : accept.substr(0, end)) {
      if (c != ' ' && c != '\t') range += c;
    }
    accept.remove_prefix(std::min(end + 1, accept.size()));
    if (!range.starts_with("application/openmetrics-text")) continue;
    range += ';';
    const bool is_version = !range.contains(";version=") || range.contains(";version=1.0.0;");
    double quality = 1;
    if (const std::size_t q = range.find(";q="); q != range.npos) {
      std::from_chars(range.data() + q + 3, range.data() + range.size(), quality);
    }
    if (is_version && quality > 0) return true;
  }
  return false;
}

}  // namespace corolane::framework
