// SPDX-License-Identifier: MIT
// What a player is told of a game, and what the checker thinks of it.
#include "tools/bots/notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corolane::tools::bots {
namespace {

namespace chess = services::chess;
using testing::ElementsAre;
using testing::IsEmpty;

chess::TurnNotice notice_of(std::uint32_t plies, const std::string& outcome = "unfinished") {
  chess::TurnNotice notice;
  notice.set_game("mine");
  notice.mutable_state()->set_plies(plies);
  notice.mutable_state()->set_outcome(outcome);
  if (outcome == "unfinished") {
    notice.mutable_state()->set_turn(plies % 2 == 0 ? chess::WHITE : chess::BLACK);
  }
  return notice;
}

// A player with a session, and pushes that are numbered as they come.
class NoticesTest : public testing::Test {
 protected:
  NoticesTest() { checker_.on_session(false); }

  void tell(const chess::TurnNotice& notice) {
    checker_.on_push(++number_);
    checker_.on_notice(notice);
  }
  void begin_session() {
    number_ = 0;
    checker_.on_session(false);
  }

  NoticeChecker checker_{"mine", chess::WHITE};
  std::uint64_t number_ = 0;
};

TEST_F(NoticesTest, EachTurnAndTheEndInOrderArePerfect) {
  tell(notice_of(2));
  EXPECT_TRUE(checker_.knows_ply(2));
  EXPECT_FALSE(checker_.knows_ply(3));
  checker_.on_session(true);
  tell(notice_of(4));
  EXPECT_FALSE(checker_.knows_end());
  tell(notice_of(4, "resignation"));
  EXPECT_TRUE(checker_.knows_end());
  checker_.finish(4, false);
  EXPECT_TRUE(checker_.counts().is_perfect());
  EXPECT_EQ(checker_.counts().push_count, 3U);
  EXPECT_EQ(checker_.counts().resumed_count, 1U);
  EXPECT_THAT(checker_.mistakes(), IsEmpty());
}

TEST_F(NoticesTest, AGameThatEndsOnTheBoardHasNoTurnAtItsEnd) {
  tell(notice_of(2));
  tell(notice_of(4, "checkmate"));
  EXPECT_TRUE(checker_.knows_ply(4));
  checker_.finish(4, true);
  EXPECT_TRUE(checker_.counts().is_perfect());
}

TEST_F(NoticesTest, ANoticeThatDoesNotComeIsLost) {
  tell(notice_of(4));
  checker_.finish(4, false);
  EXPECT_EQ(checker_.counts().lost_count, 2U);
  EXPECT_THAT(checker_.mistakes(), ElementsAre("the notice of ply 2 has not come",
                                               "the notice of the end has not come"));
}

TEST_F(NoticesTest, ANoticeThatComesAgainIsDoubled) {
  tell(notice_of(2));
  tell(notice_of(2));
  begin_session();
  tell(notice_of(2));
  EXPECT_EQ(checker_.counts().doubled_count, 2U);
  EXPECT_EQ(checker_.counts().new_session_count, 1U);
  EXPECT_THAT(checker_.mistakes(),
              ElementsAre("the notice of ply 2 comes again, over the same session",
                          "the notice of ply 2 comes again, over a new session"));
}

TEST_F(NoticesTest, AnEarlierNoticeAfterALaterOneIsOutOfOrder) {
  tell(notice_of(4));
  tell(notice_of(2));
  tell(notice_of(6, "agreement"));
  tell(notice_of(6));
  EXPECT_EQ(checker_.counts().unordered_count, 2U);
  EXPECT_THAT(checker_.mistakes(), ElementsAre("the notice of ply 2 comes after that of ply 4",
                                               "the notice of ply 6 comes after that of the end"));
}

TEST_F(NoticesTest, TheTurnOfTheOtherPlayerIsAMistake) {
  tell(notice_of(1));
  EXPECT_THAT(checker_.mistakes(), ElementsAre("the notice of ply 1 is for the other player"));
}

TEST_F(NoticesTest, NumbersOfPushesAscend) {
  checker_.on_push(1);
  checker_.on_gap(3);
  checker_.on_push(5);
  EXPECT_TRUE(checker_.counts().is_perfect());
  EXPECT_EQ(checker_.counts().gap_count, 3U);
  checker_.on_push(7);
  checker_.on_push(7);
  checker_.on_push(6);
  EXPECT_EQ(checker_.counts().unordered_count, 2U);
}

TEST_F(NoticesTest, StatesOfTheGroupHaveNoHolesWithoutAGap) {
  const auto hear = [&](std::uint32_t plies) {
    chess::GameState state;
    state.set_plies(plies);
    checker_.on_news(state);
  };
  checker_.on_follow(3);
  for (const std::uint32_t plies : {2, 3, 4, 4, 5}) hear(plies);
  checker_.on_news_gap();
  hear(9);
  hear(10);
  checker_.on_follow(12);
  hear(13);
  EXPECT_TRUE(checker_.counts().is_perfect());
  EXPECT_EQ(checker_.counts().news_count, 8U);
  EXPECT_EQ(checker_.counts().news_gap_count, 1U);

  hear(16);
  EXPECT_EQ(checker_.counts().lost_count, 2U);
  hear(15);
  EXPECT_EQ(checker_.counts().unordered_count, 1U);
  EXPECT_THAT(checker_.mistakes(),
              ElementsAre("the state of ply 16 comes behind that of ply 13, without a gap",
                          "the state of ply 15 comes after that of ply 16"));
}

TEST_F(NoticesTest, NoticesOfOtherGamesOnlyCountAsPushes) {
  chess::TurnNotice other = notice_of(2);
  other.set_game("theirs");
  tell(other);
  tell(other);
  EXPECT_TRUE(checker_.counts().is_perfect());
  EXPECT_FALSE(checker_.knows_ply(2));
  EXPECT_EQ(checker_.counts().push_count, 2U);
}

}  // namespace
}  // namespace corolane::tools::bots
