// SPDX-License-Identifier: MIT
// The effects of keys.
#include "tools/corolane/top/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/tools/corolane/top/samples.h"

namespace corolane::tools::cli::top {
namespace {

using testing::ElementsAre;

const auto by_load =
    ElementsAre("Game/Move object", "Game/Move wire", "Chess/Join wire", "Chess/Abandon wire");

class ViewTest : public testing::Test {
 protected:
  void press(std::string_view bytes) {
    for (const Key key : read_keys(bytes)) view_.press(key, frame_);
  }
  void show_cluster() {
    Snapshot snapshot = later_snapshot();
    snapshot.cluster = cluster_sample();
    frame_ = make_frame(&before_, snapshot);
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> ids;
    for (const Row* row : view_.rows(frame_)) ids.push_back(row->id);
    return ids;
  }

  Snapshot before_ = early_snapshot();
  Frame frame_ = make_frame(&before_, later_snapshot());
  View view_;
};

TEST_F(ViewTest, MethodsComeFirstWithTheMostCalledOnTop) {
  EXPECT_EQ(view_.table(), TableKind::methods);
  EXPECT_THAT(ids(), by_load);
}

TEST_F(ViewTest, ALetterSortsByItsColumnAndRReverses) {
  press("t");
  EXPECT_THAT(ids(), ElementsAre("1", "7", "9"));  // By age.
  press("u");
  EXPECT_THAT(ids(), ElementsAre("7", "1", "9"));
  press("n");
  EXPECT_THAT(ids(), ElementsAre("9", "7", "1"));
  press("r");
  EXPECT_THAT(ids(), ElementsAre("1", "7", "9"));
}

TEST_F(ViewTest, IdleMethodsStayLastInAnyOrder) {
  press("n");
  EXPECT_THAT(ids(), ElementsAre("Game/Move object", "Game/Move wire", "Chess/Abandon wire",
                                 "Chess/Join wire"));
  press("ar");
  EXPECT_THAT(ids(), ElementsAre("Game/Move wire", "Game/Move object", "Chess/Join wire",
                                 "Chess/Abandon wire"));
}

TEST_F(ViewTest, CShowsTheNodesOfTheClusterByName) {
  show_cluster();
  press("c");
  EXPECT_EQ(view_.table(), TableKind::cluster);
  EXPECT_THAT(ids(), ElementsAre("chess-1", "chess-2", "chess-3"));
  press("a");
  EXPECT_THAT(ids(), ElementsAre("chess-1", "chess-3", "chess-2"));
}

TEST_F(ViewTest, EnterGoesToANodeAndCComesBack) {
  show_cluster();
  press("c\r");
  EXPECT_EQ(view_.peer(), "10.0.0.1:8461");
  EXPECT_EQ(view_.table(), TableKind::methods);
  press("t");
  EXPECT_EQ(view_.peer(), "10.0.0.1:8461");
  press("c");
  EXPECT_EQ(view_.peer(), "");
  EXPECT_EQ(view_.table(), TableKind::cluster);
}

TEST_F(ViewTest, EnterOpensANodeThatItCannotGoTo) {
  show_cluster();
  for (const std::string_view node : {"chess-2", "chess-3"}) {
    press("cj\r");
    EXPECT_TRUE(view_.is_open());
    EXPECT_EQ(view_.selected_id(), node);
    EXPECT_EQ(view_.peer(), "");
    press("\r");
    EXPECT_EQ(view_.peer(), "");
    press("q");
  }
}

TEST_F(ViewTest, AViewMayBeginWithTheCluster) {
  EXPECT_EQ(View(TableKind::cluster).table(), TableKind::cluster);
}

TEST_F(ViewTest, EachTableKeepsItsOrder) {
  press("tnm");
  EXPECT_THAT(ids(), by_load);
  press("t");
  EXPECT_THAT(ids(), ElementsAre("9", "7", "1"));
}

TEST_F(ViewTest, TheSelectedRowStaysWithinTheTable) {
  press("tjjjjj");
  EXPECT_EQ(view_.selected_id(), "9");
  press("\x1b[A");
  EXPECT_EQ(view_.selected_id(), "7");
  press("kkk");
  EXPECT_EQ(view_.selected_id(), "1");
  press("\x1b[F");
  EXPECT_EQ(view_.selected_id(), "9");
}

TEST_F(ViewTest, TheSelectedRowIsFollowedWhereverItMoves) {
  press("tuj");
  ASSERT_EQ(view_.selected_id(), "1");
  Snapshot next = later_snapshot();
  next.tasks->tasks[2].cpu_seconds = 5;

  view_.follow(make_frame(&before_, next));

  EXPECT_EQ(view_.selected_id(), "1");
  EXPECT_EQ(view_.selected(), 2u);
}

TEST_F(ViewTest, ASelectedFirstRowStaysFirst) {
  press("tu");
  view_.follow(frame_);
  ASSERT_EQ(view_.selected_id(), "7");
  Snapshot next = later_snapshot();
  next.tasks->tasks[0].cpu_seconds = 5;

  view_.follow(make_frame(&before_, next));

  EXPECT_EQ(view_.selected_id(), "1");
}

TEST_F(ViewTest, ARowThatIsGoneIsReplacedByItsNeighbour) {
  press("tjj");
  Snapshot next = later_snapshot();
  next.tasks->tasks.pop_back();

  view_.follow(make_frame(&before_, next));

  EXPECT_EQ(view_.selected_id(), "7");
}

TEST_F(ViewTest, AnOpenTaskStaysOpenWhenItEnds) {
  press("tjj\r");
  Snapshot next = later_snapshot();
  next.tasks->tasks.pop_back();

  view_.follow(make_frame(&before_, next));

  EXPECT_TRUE(view_.is_open());
  EXPECT_EQ(view_.selected_id(), "9");
}

TEST_F(ViewTest, QClosesAnOpenItemFirst) {
  press("tj\r");
  ASSERT_TRUE(view_.is_open());
  press("q");
  EXPECT_FALSE(view_.is_open());
  EXPECT_FALSE(view_.quits());
  press("q");
  EXPECT_TRUE(view_.quits());
}

TEST_F(ViewTest, ControlCAlwaysQuits) {
  press("tj\r\x03");
  EXPECT_TRUE(view_.quits());
}

TEST_F(ViewTest, AnyKeyOnlyClosesTheHelp) {
  press("h");
  ASSERT_TRUE(view_.shows_help());
  press("q");
  EXPECT_FALSE(view_.shows_help());
  EXPECT_FALSE(view_.quits());
}

TEST_F(ViewTest, KeysDoNothingToAnEmptyTable) {
  frame_ = make_frame(nullptr, Snapshot());
  press("tscjjkur\r\x1b[5~");
  EXPECT_FALSE(view_.is_open());
  EXPECT_EQ(view_.selected(), 0u);
}

}  // namespace
}  // namespace corolane::tools::cli::top
