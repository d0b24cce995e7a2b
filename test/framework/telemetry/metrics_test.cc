// SPDX-License-Identifier: MIT
#include "framework/telemetry/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "coroutine/base/histogram.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string written(const std::function<void(MetricWriter& out)>& collect) {
  MetricWriter out;
  collect(out);
  return out.text();
}

TEST(MetricsTest, NoMetricsAreTheEmptyText) { EXPECT_EQ(Metrics().text(), ""); }

TEST(MetricsTest, AFamilyIsHelpAndTypeOnceFollowedByItsSeries) {
  const std::string text = written([](MetricWriter& out) {
    out.counter("moves_total", "Moves made.", {{"side", "white"}}, 3);
    out.counter("moves_total", "Moves made.", {{"side", "black"}}, 2);
  });
  EXPECT_EQ(text,
            "# HELP moves_total Moves made.\n"
            "# TYPE moves_total counter\n"
            "moves_total{side=\"black\"} 2\n"
            "moves_total{side=\"white\"} 3\n");
}

TEST(MetricsTest, FamiliesAreSortedAndMergedAcrossCollectors) {
  Metrics metrics;
  metrics.add([](MetricWriter& out) {
    out.gauge("b", "Second.", {{"x", "1"}}, 1);
    out.gauge("a", "First.", {}, 2);
  });
  metrics.add([](MetricWriter& out) { out.gauge("b", "Second.", {{"x", "2"}}, 3); });
  EXPECT_EQ(metrics.text(),
            "# HELP a First.\n# TYPE a gauge\na 2\n"
            "# HELP b Second.\n# TYPE b gauge\nb{x=\"1\"} 1\nb{x=\"2\"} 3\n");
}

TEST(MetricsTest, EveryScrapeReadsTheCurrentValues) {
  int rooms = 1;
  Metrics metrics;
  metrics.add([&](MetricWriter& out) { out.gauge("rooms", "Open rooms.", {}, rooms); });
  EXPECT_THAT(metrics.text(), HasSubstr("\nrooms 1\n"));
  rooms = 2;
  EXPECT_THAT(metrics.text(), HasSubstr("\nrooms 2\n"));
}

TEST(MetricsTest, NumbersArePrintedInTheirShortestForm) {
  const std::string text = written([](MetricWriter& out) {
    out.gauge("a", "Whole.", {}, std::uint64_t{1} << 50);
    out.gauge("b", "Fraction.", {}, 0.1);
    out.gauge("c", "Duration.", {}, 1500ms);
    out.gauge("d", "Infinite.", {}, std::numeric_limits<double>::infinity());
    out.gauge("e", "Not a number.", {}, std::numeric_limits<double>::quiet_NaN());
    out.gauge("f", "Large.", {}, 1e300);
    out.gauge("g", "Negative.", {}, -7);
  });
  for (const char* line : {"\na 1125899906842624\n", "\nb 0.1\n", "\nc 1.5\n", "\nd +Inf\n",
                           "\ne NaN\n", "\nf 1e+300\n", "\ng -7\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(MetricsTest, ReservedCharactersAreEscaped) {
  const std::string text = written([](MetricWriter& out) {
    out.gauge("a", "Back\\slash, line\nfeed, \"quote\".", {{"l", "b\\s n\nl q\"u"}}, 1);
  });
  EXPECT_EQ(text,
            "# HELP a Back\\\\slash, line\\nfeed, \"quote\".\n"
            "# TYPE a gauge\n"
            "a{l=\"b\\\\s n\\nl q\\\"u\"} 1\n");
}

TEST(MetricsTest, AHistogramIsCumulativeInBaseUnits) {
  constexpr std::array<std::uint64_t, 3> bounds = {5, 10, 1000};
  Histogram values;
  for (const std::uint64_t microseconds : {3U, 7U, 7U, 4000U}) values.record(microseconds);
  const std::string text = written([&](MetricWriter& out) {
    out.histogram("call_seconds", "Time of a call.", {{"method", "A/B"}}, values, {bounds, 1e6});
  });
  EXPECT_EQ(text,
            "# HELP call_seconds Time of a call.\n"
            "# TYPE call_seconds histogram\n"
            "call_seconds_bucket{method=\"A/B\",le=\"5e-06\"} 1\n"
            "call_seconds_bucket{method=\"A/B\",le=\"1e-05\"} 3\n"
            "call_seconds_bucket{method=\"A/B\",le=\"0.001\"} 3\n"
            "call_seconds_bucket{method=\"A/B\",le=\"+Inf\"} 4\n"
            "call_seconds_sum{method=\"A/B\"} 0.004017\n"
            "call_seconds_count{method=\"A/B\"} 4\n");
}

TEST(MetricsTest, AHistogramWithoutLabelsHasOnlyItsBounds) {
  constexpr std::array<std::uint64_t, 1> bounds = {8};
  const std::string text = written([&](MetricWriter& out) {
    out.histogram("size_bytes", "Size of a frame.", {}, Histogram(), {bounds, 1});
  });
  EXPECT_THAT(text, HasSubstr("\nsize_bytes_bucket{le=\"8\"} 0\n"
                              "size_bytes_bucket{le=\"+Inf\"} 0\n"
                              "size_bytes_sum 0\n"
                              "size_bytes_count 0\n"));
}

TEST(MetricsTest, MetricsOfSeveralShardsAreAddedUp) {
  constexpr std::array<std::uint64_t, 2> bounds = {5, 10};
  const auto shard = [&](std::uint64_t number) {
    Histogram values;
    values.record(number);
    values.record(10 * number);
    MetricWriter out;
    out.counter("moves_total", "Moves made.", {{"side", "white"}}, number);
    if (number == 2) out.counter("moves_total", "Moves made.", {{"side", "black"}}, 7);
    out.histogram("call_seconds", "Time of a call.", {}, values, {bounds, 1e6});
    out.gauge(number == 1 ? "only_one" : "only_two", "Of one shard.", {}, 0.5);
    return out;
  };
  MetricWriter sum = shard(1);
  sum.add(shard(2));
  sum.add(MetricWriter());
  EXPECT_EQ(sum.text(),
            "# HELP call_seconds Time of a call.\n"
            "# TYPE call_seconds histogram\n"
            "call_seconds_bucket{le=\"5e-06\"} 2\n"
            "call_seconds_bucket{le=\"1e-05\"} 3\n"
            "call_seconds_bucket{le=\"+Inf\"} 4\n"
            "call_seconds_sum 3.3e-05\n"
            "call_seconds_count 4\n"
            "# HELP moves_total Moves made.\n"
            "# TYPE moves_total counter\n"
            "moves_total{side=\"black\"} 7\n"
            "moves_total{side=\"white\"} 3\n"
            "# HELP only_one Of one shard.\n# TYPE only_one gauge\nonly_one 0.5\n"
            "# HELP only_two Of one shard.\n# TYPE only_two gauge\nonly_two 0.5\n");
}

TEST(MetricsTest, AThreadApartHasALabelOfItsOwn) {
  MetricWriter shard;
  shard.gauge("stacks", "Stacks.", {{"state", "idle"}}, 5);
  shard.gauge("tasks", "Tasks.", {}, 3);
  MetricWriter all;
  all.add_apart(shard, {"thread", "control"});
  all.add(shard);
  EXPECT_EQ(all.text(),
            "# HELP stacks Stacks.\n# TYPE stacks gauge\n"
            "stacks{state=\"idle\"} 5\n"
            "stacks{state=\"idle\",thread=\"control\"} 5\n"
            "# HELP tasks Tasks.\n# TYPE tasks gauge\n"
            "tasks 3\n"
            "tasks{thread=\"control\"} 3\n");
}

TEST(MetricsDeathTest, BrokenRulesAreBugsThatNameTheMetric) {
  MetricWriter out;
  out.gauge("rooms", "Open rooms.", {}, 1);
  EXPECT_DEATH(out.gauge("Rooms", "Open rooms.", {}, 1), "is lower_case: Rooms");
  EXPECT_DEATH(out.gauge("games", "Open games", {}, 1), "is a sentence: games");
  EXPECT_DEATH(out.counter("games", "All games.", {}, 1), "ends in _total: games");
  EXPECT_DEATH(out.gauge("games_total", "All games.", {}, 1), "a counter ends in _total");
  EXPECT_DEATH(out.gauge("rooms", "Rooms.", {{"x", "1"}}, 1), "one help and one type: rooms");
  EXPECT_DEATH(out.gauge("rooms", "Open rooms.", {}, 2), "one value in a scrape: rooms");
  EXPECT_DEATH(out.gauge("games", "Games.", {{"le", "1"}}, 1), "not le: le");
}

TEST(MetricsDeathTest, ShardsThatDisagreeOnAMetricAreABug) {
  constexpr std::array<std::uint64_t, 2> bounds = {5, 10};
  MetricWriter out;
  out.gauge("rooms", "Open rooms.", {}, 1);
  out.histogram("a_seconds", "Time.", {}, Histogram(), {bounds, 1e6});
  MetricWriter other_help;
  other_help.gauge("rooms", "Rooms.", {}, 1);
  EXPECT_DEATH(out.add(other_help), "one help and one type: rooms");
  MetricWriter other_bounds;
  other_bounds.histogram("a_seconds", "Time.", {}, Histogram(), {bounds, 1e3});
  EXPECT_DEATH(out.add(other_bounds), "one set of bounds: a_seconds");
}

TEST(MetricsDeathTest, BoundsThatDoNotIncreaseAreABug) {
  constexpr std::array<std::uint64_t, 2> bounds = {5, 5};
  MetricWriter out;
  EXPECT_DEATH(out.histogram("a_seconds", "Time.", {}, Histogram(), {bounds, 1e6}),
               "bounds of a histogram rise: a_seconds");
}

}  // namespace
}  // namespace corolane::framework
