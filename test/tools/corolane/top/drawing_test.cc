// SPDX-License-Identifier: MIT
// The lines on the screen.
#include "tools/corolane/top/drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "test/tools/corolane/top/samples.h"

namespace corolane::tools::cli::top {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class DrawingTest : public testing::Test {
 protected:
  void press(std::string_view bytes) {
    for (const Key key : read_keys(bytes)) view_.press(key, frame_);
  }

  void show_cluster() {
    Snapshot snapshot = later_snapshot();
    snapshot.cluster = cluster_sample();
    frame_ = make_frame(&before_, snapshot);
  }

  Snapshot before_ = early_snapshot();
  Frame frame_ = make_frame(&before_, later_snapshot());
  View view_;
};

TEST_F(DrawingTest, EveryLineIsCutToTheSizeOfTheScreen) {
  for (const std::string_view keys : {"m", "t", "s", "h", "th\r", "tj\r", "c", "cj\r"}) {
    press(keys);
    for (std::size_t height = 0; height < 30; ++height) {
      for (std::size_t width = 0; width < 100; width += 7) {
        const auto lines = draw(frame_, view_, {width, height}, Style::plain);
        ASSERT_LE(lines.size(), height);
        for (const std::string& line : lines) ASSERT_LE(line.size(), width);
      }
    }
  }
}

TEST_F(DrawingTest, TheTableIsBelowTheFigures) {
  press("j");
  const auto lines = draw(frame_, view_, {80, 24}, Style::plain);

  ASSERT_THAT(lines, SizeIs(24));
  EXPECT_EQ(lines[0], "chess-1  0.1.0  pid 17  up 12.0s");
  EXPECT_EQ(lines[9],
            "  a*CALLS/S   p:P50    l:P99  u:RUNNING  e:ERRORS/S  f:REFUSALS/S  n:METHOD");
  EXPECT_EQ(lines[10],
            "      5.00k       -        -          3           2         1.00k  Game/Move");
  EXPECT_THAT(lines[11], StartsWith("> "));
  EXPECT_THAT(lines[23], StartsWith("m methods  t tasks"));
}

TEST_F(DrawingTest, TheClusterHasARowForEachNodeBelowTheSums) {
  show_cluster();
  press("c");
  const auto lines = draw(frame_, view_, {130, 24}, Style::plain);

  EXPECT_EQ(lines[1], "nodes     3  1 without an answer");
  EXPECT_EQ(lines[2], "calls     1.50k/s  errors 2/s  refusals 30/s");
  EXPECT_EQ(lines[3], "objects   500");
  EXPECT_EQ(lines[5],
            "  n*NODE   e:STATE          v:VERSION  a:CALLS/S  o:ERRORS/S  f:REFUSALS/S    l:P99  "
            "b:OBJECTS   u:CPU  y:MEMORY  d:LOOP DELAY");
  EXPECT_EQ(lines[6],
            "> chess-1  serving          0.1.0          1.20k           2            30  2.90 ms  "
            "      500  85.0 %  64.0 MiB        400 us");
  EXPECT_EQ(lines[7],
            "  chess-2  does not answer  -                  -           -             -        -  "
            "        -       -         -             -");
  EXPECT_THAT(lines[8], StartsWith("  chess-3  draining         -                300 "));
}

TEST_F(DrawingTest, ANodeThatDoesNotAnswerOpensWithTheReason) {
  show_cluster();
  press("cj\r");
  EXPECT_THAT(draw(frame_, view_, {80, 24}, Style::plain),
              Contains("deadline_exceeded: no answer in 500ms"));
}

TEST_F(DrawingTest, ANodeWithoutAnAdminAddressSaysHowToReachIt) {
  show_cluster();
  press("cjj\r");
  const auto lines = draw(frame_, view_, {80, 24}, Style::plain);
  EXPECT_THAT(lines, Contains("chess-3  draining"));
  EXPECT_THAT(lines, Contains(HasSubstr("use corolane top HOST:PORT")));
}

TEST_F(DrawingTest, ANodeThatHasLeftTheClusterStaysOpen) {
  show_cluster();
  press("cj\r");
  frame_.cluster.rows.erase(frame_.cluster.rows.begin() + 1);
  EXPECT_THAT(draw(frame_, view_, {80, 24}, Style::plain),
              Contains("chess-2 has left the cluster"));
}

TEST_F(DrawingTest, TheSelectedRowIsAlwaysOnTheScreen) {
  press("tjj");
  const auto lines = draw(frame_, view_, {80, 13}, Style::plain);

  EXPECT_THAT(lines, Contains(StartsWith("> 9")));
  EXPECT_THAT(lines, Not(Contains(StartsWith("  1 "))));
}

TEST_F(DrawingTest, AnOpenTaskHasItsStack) {
  press("tj\r");
  frame_.open_task = TaskSample{.id = "7",
                                .name = "Chess/Move",
                                .state = "suspended",
                                .waiting_for = "lock",
                                .spawned_at = "room.cc:3",
                                .stack = {"lock (mutex.cc:7)"}};
  EXPECT_THAT(draw(frame_, view_, {80, 24}, Style::plain), Contains("at lock (mutex.cc:7)"));

  frame_.open_task.reset();
  EXPECT_THAT(draw(frame_, view_, {80, 24}, Style::plain),
              Contains("task 7 has ended, or is being loaded"));
}

TEST_F(DrawingTest, TroubleIsShownAndTheLastFrameIsKept) {
  const auto lines = draw(frame_, view_, {80, 24}, Style::plain, "connection refused");

  EXPECT_EQ(lines[1], "connection refused");
  EXPECT_THAT(lines, Contains(HasSubstr("Chess/Join")));
}

TEST_F(DrawingTest, WithoutColorsThereIsNoEscapeSequence) {
  for (const std::string_view keys : {"j", "t", "h"}) {
    press(keys);
    EXPECT_THAT(draw(frame_, view_, {80, 24}, Style::plain, "x"), Each(Not(HasSubstr("\x1b"))));
    EXPECT_THAT(draw(frame_, view_, {80, 24}, Style::colored, "x"), Contains(HasSubstr("\x1b")));
  }
}

TEST_F(DrawingTest, MultibyteCharactersAreNotCut) {
  frame_.title = "\u00e9\u00e9\u00e9\u00e9";

  EXPECT_EQ(draw(frame_, view_, {2, 24}, Style::plain)[0], "\u00e9\u00e9");
}

TEST_F(DrawingTest, TheTextHasFiguresAndTableWithoutTrailingBlanks) {
  const std::string text = frame_text(frame_, view_);

  EXPECT_THAT(text, StartsWith("chess-1  0.1.0  pid 17  up 12.0s\nloops     0 [|||||     ]"));
  EXPECT_THAT(text, HasSubstr("  Game/Move\n"));
  EXPECT_THAT(text, Not(HasSubstr(" \n")));
}

}  // namespace
}  // namespace corolane::tools::cli::top
