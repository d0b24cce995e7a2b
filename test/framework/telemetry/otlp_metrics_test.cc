// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "coroutine/base/histogram.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

json otlp_metrics_of(const MetricWriter& out) {
  const std::string body = otlp_metrics({.service_name = "node-1", .host_name = "h"},
                                        out.families(), {.start = 1s, .time = 5s});
  const json request = json::parse(body);
  EXPECT_EQ(request["resourceMetrics"][0]["resource"], json::parse(R"({"attributes": [
    {"key": "service.name", "value": {"stringValue": "node-1"}},
    {"key": "host.name", "value": {"stringValue": "h"}}]})"));
  EXPECT_EQ(request["resourceMetrics"][0]["scopeMetrics"][0]["scope"]["name"], "corolane");
  return request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
}

TEST(OtlpMetricsTest, ACounterIsACumulativeSum) {
  MetricWriter out;
  out.counter("stall_seconds_total", "Time in stalls.", {{"shard", "a\"\\\nb"}, {"x", "y"}}, 1.5);
  EXPECT_EQ(otlp_metrics_of(out), json::parse(R"([{
    "name": "stall_seconds_total", "description": "Time in stalls.", "unit": "s",
    "sum": {"aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [{
      "attributes": [{"key": "shard", "value": {"stringValue": "a\"\\\nb"}},
                     {"key": "x", "value": {"stringValue": "y"}}],
      "startTimeUnixNano": "1000000000", "timeUnixNano": "5000000000", "asDouble": 1.5}]}}])"));
}

TEST(OtlpMetricsTest, AGaugeHasNoStart) {
  MetricWriter out;
  out.gauge("fence", "Time left.", {}, std::numeric_limits<double>::infinity());
  EXPECT_EQ(otlp_metrics_of(out), json::parse(R"([{
    "name": "fence", "description": "Time left.",
    "gauge": {"dataPoints": [{"attributes": [], "timeUnixNano": "5000000000",
                              "asDouble": "Infinity"}]}}])"));
}

TEST(OtlpMetricsTest, AHistogramCountsEachBucketByItself) {
  constexpr std::array<std::uint64_t, 2> bounds = {8, 1024};
  Histogram values;
  for (const std::uint64_t bytes : {3U, 7U, 500U, 4000U}) values.record(bytes);
  const std::array<MetricExemplar, 1> exemplars = {
      {{.value = 500,
        .trace = *rpc::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        .unix_time = 4s}}};
  MetricWriter out;
  out.histogram("size_bytes", "Size of a frame.", {}, values, {bounds, 1}, exemplars);
  EXPECT_EQ(otlp_metrics_of(out), json::parse(R"([{
    "name": "size_bytes", "description": "Size of a frame.", "unit": "By",
    "histogram": {"aggregationTemporality": 2, "dataPoints": [{
      "attributes": [], "startTimeUnixNano": "1000000000", "timeUnixNano": "5000000000",
      "count": "4", "sum": 4510, "bucketCounts": ["2", "1", "1"], "explicitBounds": [8, 1024],
      "exemplars": [{"timeUnixNano": "4000000000", "asDouble": 500,
                     "spanId": "00f067aa0ba902b7",
                     "traceId": "4bf92f3577b34da6a3ce929d0e0e4736"}]}]}}])"));
}

}  // namespace
}  // namespace corolane::framework
