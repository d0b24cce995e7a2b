// SPDX-License-Identifier: MIT
#include "framework/telemetry/metrics.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "coroutine/base/check.h"
#include "framework/telemetry/metric_text.h"

namespace corolane::framework {
namespace {

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

// `a="1",b="2"`, without the braces.
std::string labels_text(MetricWriter::Labels labels) {
  std::string text;
  for (const MetricLabel& label : labels) {
    require(is_metric_name(label.name) && label.name != "le", label.name,
            "the name of a label is lower_case and not le");
    if (!text.empty()) text += ',';
    text.append(label.name).append("=\"").append(metric_escaped(label.value, true)).append("\"");
  }
  return text;
}

// Adds an exemplar to those of a series, where it replaces an older one of its bucket.
void add_exemplar(const MetricFamily& family, std::vector<MetricExemplar>& exemplars,
                  const MetricExemplar& exemplar) {
  const std::size_t bucket = family.bucket_of(exemplar.value);
  const auto same = std::ranges::find_if(
      exemplars, [&](const MetricExemplar& one) { return family.bucket_of(one.value) == bucket; });
  if (same == exemplars.end()) {
    exemplars.push_back(exemplar);
  } else if (same->unix_time <= exemplar.unix_time) {
    *same = exemplar;
  }
}

}  // namespace

void MetricWriter::counter(std::string_view name, std::string_view help, Labels labels,
                           MetricValue value) {
  require(name.ends_with("_total"), name, "the name of a counter ends in _total");
  add_series(name, {.help = std::string(help), .type = "counter"}, labels_text(labels),
             {.values = {value.number()}});
}

void MetricWriter::gauge(std::string_view name, std::string_view help, Labels labels,
                         MetricValue value) {
  require(!name.ends_with("_total"), name, "only the name of a counter ends in _total");
  add_series(name, {.help = std::string(help), .type = "gauge"}, labels_text(labels),
             {.values = {value.number()}});
}

void MetricWriter::histogram(std::string_view name, std::string_view help, Labels labels,
                             const Histogram& values, const MetricBuckets& buckets,
                             std::span<const MetricExemplar> exemplars) {
  require(!name.ends_with("_total"), name, "only the name of a counter ends in _total");
  const bool rising =
      std::ranges::adjacent_find(buckets.bounds, std::greater_equal{}) == buckets.bounds.end();
  require(rising, name, "the bounds of a histogram rise");
  MetricFamily::Kind kind{.help = std::string(help), .type = "histogram"};
  std::vector<double> counts;
  for (const std::uint64_t bound : buckets.bounds) {
    kind.bounds.push_back(static_cast<double>(bound) / buckets.units_per_base);
    counts.push_back(static_cast<double>(values.count_up_to(bound)));
  }
  counts.push_back(static_cast<double>(values.count()));
  counts.push_back(static_cast<double>(values.sum()) / buckets.units_per_base);
  auto& series = add_series(name, kind, labels_text(labels), {.values = std::move(counts)});
  for (const MetricExemplar& exemplar : exemplars) {
    add_exemplar(family(name, kind), series.exemplars, exemplar);
  }
}

std::size_t MetricFamily::bucket_of(double value) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(kind.bounds, value) -
                                  kind.bounds.begin());
}

// Finds the family of that name, or adds one without series.
MetricFamily& MetricWriter::family(std::string_view name, const MetricFamily::Kind& kind) {
  auto found = families_.find(name);
  if (found == families_.end()) {
    require(is_metric_name(name), name, "the name of a metric is lower_case");
    require(kind.help.ends_with('.'), name, "the help of a metric is a sentence");
    found = families_.emplace(name, MetricFamily{.kind = kind}).first;
  }
  const MetricFamily::Kind& known = found->second.kind;
  require(known.help == kind.help && known.type == kind.type, name,
          "a metric has one help and one type");
  require(known.bounds == kind.bounds, name, "a histogram has one set of bounds");
  return found->second;
}

MetricFamily::Series& MetricWriter::add_series(std::string_view name,
                                               const MetricFamily::Kind& kind, std::string labels,
                                               MetricFamily::Series series) {
  const auto [place, is_new] =
      family(name, kind).series.emplace(std::move(labels), std::move(series));
  require(is_new, name, "a series has one value in a scrape");
  return place->second;
}

void MetricWriter::add(const MetricWriter& other) {
  for (const auto& [name, theirs] : other.families_) {
    MetricFamily& ours = family(name, theirs.kind);
    for (const auto& [labels, series] : theirs.series) {
      const auto [place, is_new] = ours.series.emplace(labels, series);
      if (is_new) continue;
      auto& sums = place->second.values;
      std::ranges::transform(sums, series.values, sums.begin(), std::plus{});
      for (const MetricExemplar& exemplar : series.exemplars) {
        add_exemplar(ours, place->second.exemplars, exemplar);
      }
    }
  }
}

void MetricWriter::add_apart(const MetricWriter& other, const MetricLabel& label) {
  const std::string suffix = labels_text({label});
  for (const auto& [name, theirs] : other.families_) {
    for (const auto& [labels, series] : theirs.series) {
      add_series(name, theirs.kind, labels.empty() ? suffix : labels + "," + suffix, series);
    }
  }
}

std::string MetricWriter::text() const { return prometheus_text(families_); }

void Metrics::collect(MetricWriter& out) const {
  for (const Collector& collect : collectors_) collect(out);
}

std::string Metrics::text() const {
  MetricWriter out;
  collect(out);
  return out.text();
}

}  // namespace corolane::framework
