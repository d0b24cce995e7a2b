// SPDX-License-Identifier: MIT
// The reports that people and programs read.
#include "tools/benchmarks/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace corolane::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

RowResult yield_result() {
  return {.info = {.name = "yield/1",
                   .unit = "ns",
                   .operation = "a step",
                   .limit_name = "fcontext",
                   .bar = {.bound = Bound::at_most, .ratio = 0.8}},
          .ours = {6, 5, 7},
          .limit = {10, 10, 12},
          .ratios = {0.6, 0.5, 0.7},
          .peers = {{"go", {100, 90, 80}}}};
}

RowResult unmeasured_result() {
  RowResult result = yield_result();
  result.info.name = "await";
  result.ours.clear();
  result.ratios.clear();
  result.peers.clear();
  return result;
}

TEST(ReportTest, FiguresHaveAboutThreeDigits) {
  EXPECT_EQ(figure(0), "0");
  EXPECT_EQ(figure(0.583), "0.58");
  EXPECT_EQ(figure(9.994), "9.99");
  EXPECT_EQ(figure(9.996), "10.0");
  EXPECT_EQ(figure(36.24), "36.2");
  EXPECT_EQ(figure(99.96), "100");
  EXPECT_EQ(figure(4113.4), "4113");
}

TEST(ReportTest, JsonHasTheMediansOfARow) {
  const json row = json::parse(to_json({yield_result()}))["rows"][0];
  EXPECT_EQ(row["name"], "yield/1");
  EXPECT_EQ(row["ours"], 6);
  EXPECT_EQ(row["limit"], 10);
  EXPECT_EQ(row["ratio"], 0.6);
  EXPECT_EQ(row["unit"], "ns");
  EXPECT_EQ(row["peers"], json({{"go", 90}}));
  EXPECT_EQ(row["bar"], 0.8);
  EXPECT_EQ(row["holds"], true);
  EXPECT_EQ(row["mad"], 1);
  EXPECT_EQ(row["min"], 5);
  EXPECT_EQ(row["max"], 7);
  EXPECT_EQ(row["rounds"], 3);
  EXPECT_EQ(row["allocations_per_op"], 0);
}

TEST(ReportTest, JsonIsNullWhereNothingWasMeasured) {
  const json row = json::parse(to_json({unmeasured_result()}))["rows"][0];
  EXPECT_TRUE(row["ours"].is_null());
  EXPECT_TRUE(row["ratio"].is_null());
  EXPECT_EQ(row["limit"], 10);
  EXPECT_EQ(row["holds"], false);
  EXPECT_EQ(row["peers"], json::object());
}

TEST(ReportTest, JsonEscapesAllCharactersOfAName) {
  RowResult result = yield_result();
  result.info.name = "a \"quoted\\ name\n\x01 and \xff";
  const json row = json::parse(to_json({result}))["rows"][0];
  EXPECT_EQ(row["name"], "a \"quoted\\ name\n\x01 and \xef\xbf\xbd");
}

TEST(ReportTest, NoRowsAreAnEmptyList) {
  EXPECT_EQ(json::parse(to_json({})), json({{"rows", json::array()}}));
}

TEST(ReportTest, TheTableShowsTheVerdictOfABar) {
  RowResult missed = yield_result();
  missed.ratios = {1.6};
  EXPECT_THAT(to_table({yield_result()}), HasSubstr("<= 0.80  holds\n"));
  EXPECT_THAT(to_table({missed}), HasSubstr("<= 0.80  MISSED\n"));
  EXPECT_THAT(to_table({unmeasured_result()}), HasSubstr("<= 0.80  NOT MEASURED\n"));
}

RowResult call_result() {
  return {.info = {.name = "rpc/1x64",
                   .unit = "ns",
                   .bar = {.ratio = 2, .p99_us_max = 2'000, .peers = {{"tonic", 10}}}},
          .ours = {500},
          .limit = {250},
          .ratios = {2},
          .peers = {{"tonic", {4'500}}},
          .traffic = {{"ours", {.ops_per_second = 1e6, .p50_us = 50, .p99_us = 90}}}};
}

TEST(ReportTest, ABarAgainstAPeerShowsItsFigureAndVerdict) {
  const std::string table = to_table({call_result()});
  EXPECT_THAT(table, HasSubstr("<= 2.00, p99 <= 2000 us, peers  MISSED\n"));
  EXPECT_THAT(table, HasSubstr("\nrow       against  times better  bar\n"
                               "rpc/1x64  tonic            9.00  >= 10.0  MISSED\n"));
  const json row = json::parse(to_json({call_result()}))["rows"][0];
  EXPECT_EQ(row["times_better"],
            json::parse(R"({"tonic": {"value": 9, "bar": 10, "holds": false}})"));
  EXPECT_EQ(row["holds"], false);
}

TEST(ReportTest, BarsAgainstAbsentPeersAreNotShown) {
  RowResult alone = call_result();
  alone.peers.clear();
  EXPECT_THAT(to_table({alone}), HasSubstr("<= 2.00, p99 <= 2000 us  holds\n"));
  EXPECT_THAT(to_table({alone}), Not(HasSubstr("against")));
  EXPECT_FALSE(json::parse(to_json({alone}))["rows"][0].contains("times_better"));
}

TEST(ReportTest, TrafficHasATableOfItsOwn) {
  EXPECT_THAT(to_table({call_result()}), HasSubstr("\nrow               ops/s  p50 us  p99 us\n"
                                                   "rpc/1x64  ours  1000000    50.0    90.0\n"));
  EXPECT_THAT(to_table({yield_result()}), Not(HasSubstr("ops/s")));
  const json row = json::parse(to_json({call_result()}))["rows"][0];
  EXPECT_EQ(row["traffic"],
            json::parse(R"({"ours": {"ops_per_second": 1e6, "p50_us": 50, "p99_us": 90}})"));
}

TEST(ReportTest, PeersHaveATableOfTheirOwn) {
  EXPECT_THAT(to_table({yield_result()}), HasSubstr("\nrow      unit  ours    go\n"
                                                    "yield/1  ns    6.00  90.0\n"));
  EXPECT_THAT(to_table({unmeasured_result()}), Not(HasSubstr("go")));
}

}  // namespace
}  // namespace corolane::bench
