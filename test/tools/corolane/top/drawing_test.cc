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

  Snapshot before_ = early_snapshot();
  Frame frame_ = make_frame(&before_, later_snapshot());
  View view_;
};

TEST_F(DrawingTest, EveryLineIsCutToTheSizeOfTheScreen) {
  for (const std::string_view keys : {"m", "t", "s", "h", "th\r", "tj\r"}) {
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
  EXPECT_EQ(lines[9], "  c*CALLS/S   p:P50    l:P99  a:RUNNING  e:ERRORS/S  o:CALLS  n:METHOD");
  EXPECT_EQ(lines[10], "         20  400 us  9.00 ms          3           2       70  Chess/Move");
  EXPECT_THAT(lines[11], StartsWith("> "));
  EXPECT_THAT(lines[23], StartsWith("m methods  t tasks"));
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
  EXPECT_THAT(lines, Contains(HasSubstr("Chess/Move")));
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
  EXPECT_THAT(text, HasSubstr("  Chess/Move\n"));
  EXPECT_THAT(text, Not(HasSubstr(" \n")));
}

}  // namespace
}  // namespace corolane::tools::cli::top
