// SPDX-License-Identifier: MIT
// The rows and sums of a cluster.
#include "tools/corolane/top/cluster_view.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/tools/corolane/top/samples.h"

namespace corolane::tools::cli::top {
namespace {

TEST(ClusterViewTest, OnlyANodeThatAnswersAtAKnownAddressCanBeGoneTo) {
  const Table table = cluster_table(cluster_sample());

  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].peer, "10.0.0.1:8461");
  EXPECT_EQ(table.rows[1].peer, "");
  EXPECT_EQ(table.rows[2].peer, "");
}

TEST(ClusterViewTest, ANodeThatDoesNotAnswerSaysSoInsteadOfItsLastState) {
  ClusterSample cluster = cluster_sample();
  cluster.members[1].state = "serving";

  EXPECT_EQ(cluster_table(cluster).rows[1].cells[1].text, "does not answer");
}

TEST(ClusterViewTest, AnUnknownFigureIsNoZeroAndIsSortedBehindIt) {
  ClusterSample cluster = cluster_sample();
  cluster.members[2].calls_per_second = 0;
  const Table table = cluster_table(cluster);

  EXPECT_EQ(table.rows[1].cells[3].text, "-");
  EXPECT_EQ(table.rows[2].cells[3].text, "0");
  EXPECT_GT(table.rows[2].cells[3].number, table.rows[1].cells[3].number);
}

TEST(ClusterViewTest, ColumnsHaveKeysOfTheirOwn) {
  const std::string taken_by_the_view = "qhmtscjkr?";
  std::string seen;
  for (const Column& column : cluster_table({}).columns) {
    EXPECT_FALSE(taken_by_the_view.contains(column.key)) << column.title;
    EXPECT_FALSE(seen.contains(column.key)) << column.title;
    seen += column.key;
  }
}

TEST(ClusterViewTest, TheJsonHasNullsForWhatIsUnknown) {
  const std::string line = cluster_json(cluster_sample());

  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  ASSERT_EQ(json["members"].size(), 3u);
  EXPECT_EQ(json["members"][0]["calls_per_second"], 1'200.0);
  EXPECT_EQ(json["members"][1]["state"], "does not answer");
  EXPECT_TRUE(json["members"][1]["p99_seconds"].is_null());
}

}  // namespace
}  // namespace corolane::tools::cli::top
