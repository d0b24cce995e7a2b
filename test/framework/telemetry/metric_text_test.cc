// SPDX-License-Identifier: MIT
#include "framework/telemetry/metric_text.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "coroutine/base/histogram.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;

const rpc::TraceContext trace_of_exemplars =
    *rpc::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

MetricWriter metrics_with_exemplars() {
  constexpr std::array<std::uint64_t, 3> bounds = {50, 1'000'000, 2'500'000};
  const std::array<MetricExemplar, 3> exemplars = {{
      {.value = 0.25, .trace = trace_of_exemplars, .unix_time = 1'767'225'600s},
      {.value = 0.5, .trace = trace_of_exemplars, .unix_time = 1'767'225'600'250ms},
      {.value = 3, .trace = trace_of_exemplars, .unix_time = 1'767'225'599s},
  }};
  Histogram values;
  for (const std::uint64_t microseconds : {7U, 500'000U, 3'000'000U}) values.record(microseconds);
  MetricWriter out;
  out.counter("stall_seconds_total", "Time in stalls, \"all\".", {}, 1.5);
  out.gauge("rooms", "Open rooms.", {{"kind", "a\"b"}}, 2);
  out.histogram("call_seconds", "Time of a call.", {{"method", "A/B"}}, values, {bounds, 1e6},
                exemplars);
  return out;
}

TEST(MetricTextTest, OpenMetricsHasUnitsExemplarsAndAnEnd) {
  EXPECT_EQ(open_metrics_text(metrics_with_exemplars().families()),
            "# TYPE call_seconds histogram\n"
            "# UNIT call_seconds seconds\n"
            "# HELP call_seconds Time of a call.\n"
            "call_seconds_bucket{method=\"A/B\",le=\"5e-05\"} 1\n"
            "call_seconds_bucket{method=\"A/B\",le=\"1.0\"} 2 # "
            "{trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\",span_id=\"00f067aa0ba902b7\"} 0.5 "
            "1767225600.250\n"
            "call_seconds_bucket{method=\"A/B\",le=\"2.5\"} 2\n"
            "call_seconds_bucket{method=\"A/B\",le=\"+Inf\"} 3 # "
            "{trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\",span_id=\"00f067aa0ba902b7\"} 3 "
            "1767225599.000\n"
            "call_seconds_sum{method=\"A/B\"} 3.500007\n"
            "call_seconds_count{method=\"A/B\"} 3\n"
            "# TYPE rooms gauge\n"
            "# HELP rooms Open rooms.\n"
            "rooms{kind=\"a\\\"b\"} 2\n"
            "# TYPE stall_seconds counter\n"
            "# UNIT stall_seconds seconds\n"
            "# HELP stall_seconds Time in stalls, \\\"all\\\".\n"
            "stall_seconds_total 1.5\n"
            "# EOF\n");
}

TEST(MetricTextTest, ThePlainFormatHasNoneOfThem) {
  EXPECT_EQ(prometheus_text(metrics_with_exemplars().families()),
            "# HELP call_seconds Time of a call.\n"
            "# TYPE call_seconds histogram\n"
            "call_seconds_bucket{method=\"A/B\",le=\"5e-05\"} 1\n"
            "call_seconds_bucket{method=\"A/B\",le=\"1\"} 2\n"
            "call_seconds_bucket{method=\"A/B\",le=\"2.5\"} 2\n"
            "call_seconds_bucket{method=\"A/B\",le=\"+Inf\"} 3\n"
            "call_seconds_sum{method=\"A/B\"} 3.500007\n"
            "call_seconds_count{method=\"A/B\"} 3\n"
            "# HELP rooms Open rooms.\n"
            "# TYPE rooms gauge\n"
            "rooms{kind=\"a\\\"b\"} 2\n"
            "# HELP stall_seconds_total Time in stalls, \"all\".\n"
            "# TYPE stall_seconds_total counter\n"
            "stall_seconds_total 1.5\n");
}

TEST(MetricTextTest, TheNewestExemplarOfSeveralShardsIsKept) {
  MetricWriter sum = metrics_with_exemplars();
  constexpr std::array<std::uint64_t, 3> bounds = {50, 1'000'000, 2'500'000};
  MetricWriter other;
  const std::array<MetricExemplar, 2> exemplars = {{
      {.value = 0.75, .trace = trace_of_exemplars, .unix_time = 1'767'225'601s},
      {.value = 4, .trace = trace_of_exemplars, .unix_time = 1'767'225'598s},
  }};
  other.histogram("call_seconds", "Time of a call.", {{"method", "A/B"}}, Histogram(),
                  {bounds, 1e6}, exemplars);
  sum.add(other);
  const std::string text = open_metrics_text(sum.families());
  EXPECT_TRUE(text.contains("} 0.75 1767225601.000\n"));
  EXPECT_TRUE(text.contains("} 3 1767225599.000\n"));
  EXPECT_FALSE(text.contains("} 4 "));
}

TEST(MetricTextTest, OpenMetricsIsForThoseThatAskForIt) {
  EXPECT_FALSE(wants_open_metrics(""));
  EXPECT_FALSE(wants_open_metrics("*/*"));
  EXPECT_FALSE(wants_open_metrics("text/plain;version=0.0.4"));
  EXPECT_FALSE(wants_open_metrics("application/openmetrics-text; version=0.0.1"));
  EXPECT_FALSE(wants_open_metrics("application/openmetrics-text; version=1.0.0; q=0"));
  EXPECT_TRUE(wants_open_metrics("application/openmetrics-text"));
  EXPECT_TRUE(wants_open_metrics("text/html, application/openmetrics-text; version=1.0.0"));
  // Prometheus 2.42.
  EXPECT_TRUE(
      wants_open_metrics("application/openmetrics-text;version=1.0.0,"
                         "application/openmetrics-text;version=0.0.1;q=0.75,"
                         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"));
}

TEST(MetricTextTest, TheUnitIsTheLastWordOfAName) {
  EXPECT_EQ(metric_unit("corolane_rpc_call_seconds"), "seconds");
  EXPECT_EQ(metric_unit("corolane_rpc_sent_bytes_total"), "bytes");
  EXPECT_EQ(metric_unit("corolane_rpc_calls_total"), "");
  EXPECT_EQ(metric_unit("bytes"), "");
  EXPECT_EQ(metric_unit("kilobytes"), "");
}

}  // namespace
}  // namespace corolane::framework
