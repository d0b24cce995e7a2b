// SPDX-License-Identifier: MIT
// The frame made from two samples.
#include "tools/corolane/top/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "test/tools/corolane/top/samples.h"

namespace corolane::tools::cli::top {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> texts(const std::vector<Column>& columns) {
  std::vector<std::string> texts;
  for (const Column& column : columns) texts.emplace_back(column.title);
  return texts;
}

std::string line_of(const Frame& frame, std::string_view label) {
  const auto found = std::ranges::find(frame.summary, label, &SummaryLine::label);
  return found == frame.summary.end() ? "no such line" : found->text;
}

TEST(FrameTest, RatesAreThoseBetweenTheSamplesByTheClockOfTheNode) {
  const Snapshot before = early_snapshot();

  const Frame frame = make_frame(&before, later_snapshot());

  EXPECT_THAT(line_of(frame, "switches"), HasSubstr("1.00k/s"));
  EXPECT_THAT(line_of(frame, "tasks"), HasSubstr("created 5/s"));
  EXPECT_EQ(line_of(frame, "loops"),
            "0 [|||||     ] 50.0 %  1 [          ] 0.0 %  control [|         ] 10.0 %");
  EXPECT_THAT(line_of(frame, "stacks"), HasSubstr("pool hits 90.0 %"));
  EXPECT_THAT(line_of(frame, "calls"), HasSubstr("20/s"));
}

TEST(FrameTest, WithoutAControlThreadThereIsNoneAmongTheLoops) {
  Snapshot now = later_snapshot();
  now.stats.control_cpu_seconds.reset();

  EXPECT_THAT(line_of(make_frame(nullptr, now), "loops"), Not(HasSubstr("control")));
}

TEST(FrameTest, ErrorsOfTheServerAndRefusalsOfCallersAreCountedApart) {
  const Snapshot before = early_snapshot();

  const Frame frame = make_frame(&before, later_snapshot());

  EXPECT_THAT(line_of(frame, "calls"), HasSubstr("errors 2/s  refusals 8/s"));
  EXPECT_THAT(line_of(frame, "objects"), HasSubstr("errors 2/s  refusals 1.00k/s"));
  EXPECT_EQ(texts(frame.methods.columns),
            (std::vector<std::string>{"CALLS/S", "P50", "P99", "RUNNING", "ERRORS/S", "REFUSALS/S",
                                      "METHOD"}));
  EXPECT_EQ(frame.methods.rows[0].cells[4].text, "2");
  EXPECT_EQ(frame.methods.rows[0].cells[5].text, "1.00k");
}

TEST(FrameTest, CallsOfObjectsAreCountedWhoeverMakesThem) {
  const Snapshot before = early_snapshot();

  const Frame frame = make_frame(&before, later_snapshot());

  const Row& object = frame.methods.rows.at(0);
  EXPECT_EQ(object.id, "Game/Move object");
  EXPECT_EQ(object.cells[0].text, "5.00k");
  EXPECT_THAT(line_of(frame, "objects"), HasSubstr("calls 5.00k/s"));
  // Those over the wire are a part of them, and are not added to them.
  EXPECT_EQ(object.cells.back().text, "Game/Move");
  EXPECT_EQ(frame.methods.rows.at(1).cells.back().text, "Game/Move over the wire");
  EXPECT_EQ(frame.methods.rows.at(2).cells.back().text, "Chess/Join");
  EXPECT_THAT(line_of(frame, "calls"), HasSubstr("20/s"));
}

TEST(FrameTest, MethodsAreSortedByLoadAndIdleOnesComeLast) {
  const Snapshot before = early_snapshot();

  const Frame frame = make_frame(&before, later_snapshot());

  std::vector<std::string> ids;
  for (const Row& row : frame.methods.rows) ids.push_back(row.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"Game/Move object", "Game/Move wire", "Chess/Join wire",
                                           "Chess/Abandon wire"}));
  EXPECT_FALSE(frame.methods.rows[1].is_idle);
  EXPECT_TRUE(frame.methods.rows[2].is_idle);
}

TEST(FrameTest, AMethodThatOnlyRefusesIsNotIdle) {
  const Snapshot before = early_snapshot();
  Snapshot now = later_snapshot();
  now.methods.methods[0].refusals = 7;

  const Frame frame = make_frame(&before, now);

  const auto row = std::ranges::find(frame.methods.rows, "Chess/Abandon wire", &Row::id);
  ASSERT_NE(row, frame.methods.rows.end());
  EXPECT_FALSE(row->is_idle);
}

TEST(FrameTest, LatenciesAreThoseOfTheCallsBetweenTheSamples) {
  const Snapshot before = early_snapshot();

  const Frame frame = make_frame(&before, later_snapshot());

  const Row& move = frame.methods.rows.at(1);
  EXPECT_EQ(move.id, "Game/Move wire");
  EXPECT_EQ(move.cells[1].text, "400 us");
  EXPECT_EQ(move.cells[2].text, "9.00 ms");
  // The other service was not called in between.
  EXPECT_EQ(frame.methods.rows.at(2).cells[1].text, "-");
}

TEST(FrameTest, TheFirstSampleHasNoRates) {
  const Frame frame = make_frame(nullptr, early_snapshot());

  EXPECT_THAT(line_of(frame, "switches"), HasSubstr("0/s"));
  EXPECT_THAT(line_of(frame, "calls"), HasSubstr("0/s  p50 200 us"));
}

TEST(FrameTest, ARestartedProcessIsNotComparedWithItsPredecessor) {
  const Snapshot before = early_snapshot();
  Snapshot now = later_snapshot();
  now.stats.pid = 18;
  now.stats.switches = 50;

  const Frame frame = make_frame(&before, now);

  EXPECT_THAT(line_of(frame, "switches"), HasSubstr("0/s"));
}

TEST(FrameTest, AnotherNodeWithTheSameProcessIdIsNotComparedEither) {
  const Snapshot before = early_snapshot();
  Snapshot now = later_snapshot();
  now.stats.name = "chess-2";

  EXPECT_THAT(line_of(make_frame(&before, now), "switches"), HasSubstr("0/s"));
}

TEST(FrameTest, MethodsWithoutOneShardAreNotCompared) {
  const Snapshot before = early_snapshot();
  Snapshot now = later_snapshot();
  now.methods.is_whole = false;

  EXPECT_THAT(line_of(make_frame(&before, now), "calls"), HasSubstr("0/s"));
}

TEST(FrameTest, AStoppingNodeIsMarked) {
  Snapshot now = early_snapshot();
  now.stats.is_stopping = true;

  EXPECT_EQ(make_frame(nullptr, now).title, "chess-1  0.1.0  pid 17  up 10.0s  STOPPING");
}

TEST(FrameTest, AShardThatHangsIsNamedAndSumsWithoutItAreNotCompared) {
  const Snapshot before = early_snapshot();
  Snapshot now = later_snapshot();
  now.stats.silent_shards = {"shard 1 has not turned for 2.0 s"};

  const Frame frame = make_frame(&before, now);

  EXPECT_EQ(line_of(frame, "HANGS"), "shard 1 has not turned for 2.0 s");
  EXPECT_THAT(line_of(frame, "switches"), HasSubstr("0/s"));
}

TEST(FrameTest, TheJsonHasTheSameFigures) {
  const Snapshot before = early_snapshot();

  const std::string line = frame_json(&before, later_snapshot());

  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["seconds"], 2.0);
  EXPECT_EQ(json["calls_per_second"], 20.0);
  EXPECT_EQ(json["loop_use"], (std::vector<double>{0.5, 0.0}));
  EXPECT_EQ(json["refusals_per_second"], 8.0);
  EXPECT_EQ(json["object_calls_per_second"], 5'000.0);
  EXPECT_NEAR(json["control_use"].get<double>(), 0.1, 1e-9);
  EXPECT_EQ(json["methods"][0]["of"], "object");
  EXPECT_EQ(json["methods"][1]["p99_us"], 9'000);
  EXPECT_EQ(json["methods"][1]["refusals_per_second"], 8.0);
}

}  // namespace
}  // namespace corolane::tools::cli::top
