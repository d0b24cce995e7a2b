// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_metrics.h"

#include <cstdint>
#include <string_view>

#include "framework/telemetry/detail/otlp_text.h"
#include "framework/telemetry/metric_text.h"

namespace corolane::framework {
namespace {

using detail::otlp::append_comma;
using detail::otlp::append_double;
using detail::otlp::append_int64;
using detail::otlp::append_text;
using detail::otlp::append_text_attribute;

// AGGREGATION_TEMPORALITY_CUMULATIVE.
constexpr std::string_view cumulative = R"("aggregationTemporality":2)";

// Units as UCUM has them. A plain number has none: "1" would be shown as a ratio.
std::string_view otlp_unit(std::string_view name) {
  const std::string_view unit = metric_unit(name);
  if (unit == "seconds") return "s";
  return unit == "bytes" ? "By" : "";
}

void append_stamp(std::string& out, std::string_view key, std::chrono::nanoseconds time) {
  append_comma(out);
  out.append("\"").append(key).append("\":");
  append_int64(out, time.count());
}

// The labels of a series, `a="1",b="2"`, as attributes.
void append_labels(std::string& out, std::string_view labels) {
  append_comma(out);
  out.append(R"("attributes":[)");
  while (!labels.empty()) {
    const std::size_t equals = labels.find('=');
    const std::string_view name = labels.substr(0, equals);
    labels.remove_prefix(equals + 2);
    std::string value;
    for (; labels.front() != '"'; labels.remove_prefix(1)) {
      if (labels.front() == '\\') {
        labels.remove_prefix(1);
        value += labels.front() == 'n' ? '\n' : labels.front();
      } else {
        value += labels.front();
      }
    }
    labels.remove_prefix(1);
    if (labels.starts_with(',')) labels.remove_prefix(1);
    append_comma(out);
    append_text_attribute(out, name, value);
  }
  out.push_back(']');
}

void append_exemplars(std::string& out, const std::vector<MetricExemplar>& exemplars) {
  if (exemplars.empty()) return;
  out.append(R"(,"exemplars":[)");
  for (const MetricExemplar& exemplar : exemplars) {
    append_comma(out);
    out.push_back('{');
    append_stamp(out, "timeUnixNano", exemplar.unix_time);
    out.append(R"(,"asDouble":)");
    append_double(out, exemplar.value);
    out.append(R"(,"spanId":")").append(rpc::span_id_text(exemplar.trace.span_id));
    out.append(R"(","traceId":")").append(rpc::trace_id_text(exemplar.trace)).append("\"}");
  }
  out.push_back(']');
}

// Here each bucket has its own count, and the bounds are with each series.
void append_otlp_histogram(std::string& out, const MetricFamily& family,
                           const MetricFamily::Series& series) {
  const std::vector<double>& bounds = family.kind.bounds;
  const auto count_at = [&](std::size_t i) { return static_cast<std::uint64_t>(series.values[i]); };
  out.append(R"(,"count":)");
  append_int64(out, count_at(bounds.size()));
  out.append(R"(,"sum":)");
  append_double(out, series.values.back());
  out.append(R"(,"bucketCounts":[)");
  for (std::size_t i = 0; i <= bounds.size(); ++i) {
    append_comma(out);
    append_int64(out, count_at(i) - (i == 0 ? 0 : count_at(i - 1)));
  }
  out.append(R"(],"explicitBounds":[)");
  for (const double bound : bounds) {
    append_comma(out);
    append_double(out, bound);
  }
  out.push_back(']');
  append_exemplars(out, series.exemplars);
}

void append_points(std::string& out, const MetricFamily& family, const OtlpTimes& times) {
  const bool is_gauge = family.kind.type == "gauge";
  out.append(R"("dataPoints":[)");
  for (const auto& [labels, series] : family.series) {
    append_comma(out);
    out.push_back('{');
    append_labels(out, labels);
    if (!is_gauge) append_stamp(out, "startTimeUnixNano", times.start);
    append_stamp(out, "timeUnixNano", times.time);
    if (family.kind.type == "histogram") {
      append_otlp_histogram(out, family, series);
    } else {
      out.append(R"(,"asDouble":)");
      append_double(out, series.values.front());
    }
    out.push_back('}');
  }
  out.push_back(']');
}

void append_metric(std::string& out, std::string_view name, const MetricFamily& family,
                   const OtlpTimes& times) {
  append_comma(out);
  out.append(R"({"name":)");
  append_text(out, name);
  out.append(R"(,"description":)");
  append_text(out, family.kind.help);
  if (const auto unit = otlp_unit(name); !unit.empty()) {
    out.append(R"(,"unit":)");
    append_text(out, unit);
  }
  if (family.kind.type == "gauge") {
    out.append(R"(,"gauge":{)");
  } else if (family.kind.type == "counter") {
    out.append(R"(,"sum":{)").append(cumulative).append(R"(,"isMonotonic":true,)");
  } else {
    out.append(R"(,"histogram":{)").append(cumulative).append(",");
  }
  append_points(out, family, times);
  out.append("}}");
}

}  // namespace

std::string otlp_metrics(const OtlpResource& resource, const MetricFamilies& families,
                         const OtlpTimes& times) {
  std::string out = R"({"resourceMetrics":[{)";
  detail::otlp::append_resource(out, resource);
  out.append(R"(,"scopeMetrics":[{"scope":{"name":"corolane"},"metrics":[)");
  for (const auto& [name, family] : families) append_metric(out, name, family, times);
  return out.append("]}]}]}");
}

}  // namespace corolane::framework
