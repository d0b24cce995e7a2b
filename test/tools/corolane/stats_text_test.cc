// SPDX-License-Identifier: MIT
// The layout of statistics.
#include "tools/corolane/stats_text.h"

#include <gtest/gtest.h>

#include "coroutine/testing/matchers.h"

namespace corolane::tools::cli {
namespace {

TEST(StatsTextTest, ASectionIsAnAlignedListOfItsValues) {
  const auto text = stats_text(R"({"node": {"name": "chess-1", "uptime_seconds": 12.5,
                                            "stopping": false, "parent": null}})");

  ASSERT_TRUE(text) << text;
  EXPECT_EQ(*text,
            "node\n"
            "  name            chess-1\n"
            "  uptime_seconds  12.5\n"
            "  stopping        false\n"
            "  parent          null\n");
}

TEST(StatsTextTest, ShardsThatHangAreNamedFirst) {
  const auto text = stats_text(R"({"node": {"pid": 1}, "silent_shards": [
      {"shard": 0, "text": "shard 0 has not turned for 12.3 s"}]})");

  ASSERT_TRUE(text) << text;
  EXPECT_EQ(*text,
            "shard 0 has not turned for 12.3 s\n\n"
            "node\n"
            "  pid  1\n");
}

TEST(StatsTextTest, AGroupStandsOnOneLineBelowOthersOfItsKind) {
  const auto text = stats_text(R"({"coroutine": {
      "switch_ns": {"count": 120000, "mean": 8.3, "p50": 8},
      "create_ns": {"count": 900, "mean": 41.0, "p50": 39},
      "tasks": 12}})");

  ASSERT_TRUE(text) << text;
  EXPECT_EQ(*text,
            "coroutine\n"
            "  switch_ns  count 120000  mean  8.3  p50  8\n"
            "  create_ns  count    900  mean 41.0  p50 39\n"
            "  tasks      12\n");
}

TEST(StatsTextTest, AGroupInAGroupIsIndented) {
  const auto text = stats_text(R"({"rpc": {"connections": 3, "methods": {
      "Chess/Join": {"calls": 7, "latency_us": {"count": 7, "p99": 120}},
      "Chess/Move": {"calls": 250, "latency_us": {"count": 250, "p99": 80}}}}})");

  ASSERT_TRUE(text) << text;
  EXPECT_EQ(*text,
            "rpc\n"
            "  connections  3\n"
            "  methods\n"
            "    Chess/Join  calls   7\n"
            "      latency_us  count   7  p99 120\n"
            "    Chess/Move  calls 250\n"
            "      latency_us  count 250  p99  80\n");
}

TEST(StatsTextTest, ABlankLineSeparatesSections) {
  const auto text = stats_text(R"({"a": {"x": 1}, "b": {"y": 2}})");

  ASSERT_TRUE(text) << text;
  EXPECT_EQ(*text, "a\n  x  1\n\nb\n  y  2\n");
}

TEST(StatsTextTest, ListsArePrintedInlineOrByNumber) {
  const auto text = stats_text(R"({"s": {"ports": [1, 2], "shards": [{"id": 4}, {"id": 5}]}})");

  ASSERT_TRUE(text) << text;
  EXPECT_EQ(*text,
            "s\n"
            "  ports  1, 2\n"
            "  shards\n"
            "    0  id 4\n"
            "    1  id 5\n");
}

TEST(StatsTextTest, ControlCharactersAreEscaped) {
  const auto text = stats_text(R"({"node": {"name": "a\u001b[2J\nb"}})");

  ASSERT_TRUE(text) << text;
  EXPECT_EQ(*text, "node\n  name  a\\u001b[2J\\nb\n");
}

TEST(StatsTextTest, TextThatIsNotAJsonObjectIsRefused) {
  EXPECT_THAT(stats_text("<html>"), test::fails_with(Code::invalid_argument));
  EXPECT_THAT(stats_text("[1]"), test::fails_with(Code::invalid_argument));
  EXPECT_THAT(stats_text(""), test::fails_with(Code::invalid_argument));
}

}  // namespace
}  // namespace corolane::tools::cli
