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

std::string line_of(const Frame& frame, std::string_view label) {
  const auto found = std::ranges::find(frame.summary, label, &SummaryLine::label);
  return found == frame.summary.end() ? "no such line" : found->text;
}

TEST(FrameTest, RatesAreThoseBetweenTheSamplesByTheClockOfTheNode) {
  const Snapshot before = early_snapshot();

  const Frame frame = make_frame(&before, later_snapshot());

  EXPECT_THAT(line_of(frame, "switches"), HasSubstr("1.00k/s"));
  EXPECT_THAT(line_of(frame, "tasks"), HasSubstr("created 5/s"));
  EXPECT_EQ(line_of(frame, "loops"), "0 [|||||     ] 50.0 %  1 [          ] 0.0 %");
  EXPECT_THAT(line_of(frame, "stacks"), HasSubstr("pool hits 90.0 %"));
  EXPECT_THAT(line_of(frame, "calls"), HasSubstr("20/s"));
  EXPECT_THAT(line_of(frame, "calls"), HasSubstr("errors 2/s"));
}

TEST(FrameTest, LatenciesAreThoseOfTheCallsBetweenTheSamples) {
  const Snapshot before = early_snapshot();

  const Frame frame = make_frame(&before, later_snapshot());

  const Row& move = frame.methods.rows.at(1);
  EXPECT_EQ(move.id, "Chess/Move");
  EXPECT_EQ(move.cells[1].text, "400 us");
  EXPECT_EQ(move.cells[2].text, "9.00 ms");
  // The other method was not called in between.
  EXPECT_EQ(frame.methods.rows.at(0).cells[1].text, "-");
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
  EXPECT_EQ(json["methods"][1]["p99_us"], 9'000);
}

}  // namespace
}  // namespace corolane::tools::cli::top
