// SPDX-License-Identifier: MIT
// Parsing of the page about a cluster.
#include "tools/corolane/top/cluster_sample.h"

#include <gtest/gtest.h>

#include "coroutine/testing/matchers.h"

namespace corolane::tools::cli::top {
namespace {

TEST(ReadClusterTest, ANodeIsReadWithItsFigures) {
  const auto cluster = read_cluster(R"({"members": [
      {"name": "chess-1", "state": "serving", "version": "0.1.0", "admin": "10.0.0.1:8461",
       "calls_per_second": 1200.5, "errors_per_second": 2, "refusals_per_second": 30.0,
       "p99_seconds": 0.003, "objects": 500, "cpu": 0.85, "memory_bytes": 1048576,
       "loop_delay_seconds": 0.0004, "zone": "eu"}]})");

  ASSERT_TRUE(cluster) << cluster;
  const MemberSample& member = cluster->members.at(0);
  EXPECT_EQ(member.node, "chess-1");
  EXPECT_EQ(member.state, "serving");
  EXPECT_EQ(member.version, "0.1.0");
  EXPECT_TRUE(member.answers);
  EXPECT_EQ(member.admin, "10.0.0.1:8461");
  EXPECT_EQ(member.calls_per_second, 1'200.5);
  EXPECT_EQ(member.errors_per_second, 2.0);
  EXPECT_EQ(member.refusals_per_second, 30.0);
  EXPECT_EQ(member.p99_seconds, 0.003);
  EXPECT_EQ(member.objects, 500.0);
  EXPECT_EQ(member.cpu, 0.85);
  EXPECT_EQ(member.memory_bytes, 1'048'576.0);
  EXPECT_EQ(member.loop_delay_seconds, 0.0004);
}

TEST(ReadClusterTest, MissingFiguresAreUnknown) {
  const auto cluster = read_cluster(
      R"({"members": [{"name": "a\u001b[2J", "calls_per_second": null, "state": null}]})");

  ASSERT_TRUE(cluster) << cluster;
  const MemberSample& member = cluster->members.at(0);
  EXPECT_EQ(member.node, "a\\x1b[2J");  // Escaped: it moves no cursor.
  EXPECT_EQ(member.state, "");
  EXPECT_EQ(member.calls_per_second, std::nullopt);
  EXPECT_EQ(member.p99_seconds, std::nullopt);
}

TEST(ReadClusterTest, ANodeThatDoesNotAnswerSaysWhy) {
  const auto cluster = read_cluster(R"({"members": [{"name": "b", "state": "not answering",
                                    "note": "unavailable: no route"}]})");

  ASSERT_TRUE(cluster) << cluster;
  EXPECT_FALSE(cluster->members.at(0).answers);
  EXPECT_EQ(cluster->members.at(0).note, "unavailable: no route");
}

TEST(ReadClusterTest, AWrongPageIsRefused) {
  for (const char* const page : {"<html>", "{}", "[]", R"({"members": [3]})",
                                 R"({"members": [{"node": "without a name"}]})"}) {
    EXPECT_THAT(read_cluster(page), test::fails_with(Code::invalid_argument)) << page;
  }
}

}  // namespace
}  // namespace corolane::tools::cli::top
