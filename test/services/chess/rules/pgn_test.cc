// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/pgn.h; the lines in them count from one.
#include "services/chess/rules/pgn.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace corolane::services::chess::rules {
namespace {

using Entry = std::expected<PgnGame, PgnFailure>;

// "line 3, ply 2: reason" for a damaged game, and "good" for an intact one.
std::string verdict_of(const Entry& entry) {
  if (entry) return "good";
  const PgnFailure& failure = entry.error();
  return "line " + std::to_string(failure.line) + ", ply " + std::to_string(failure.ply) + ": " +
         failure.reason;
}

// The verdict on a text of one game.
std::string verdict_on(std::string_view text) {
  const auto games = read_pgn(text);
  return games.size() == 1 ? verdict_of(games[0]) : std::to_string(games.size()) + " games";
}

std::vector<std::string> moves_of(std::string_view text) {
  const auto games = read_pgn(text);
  if (games.size() != 1 || !games[0]) return {"not one good game"};
  std::vector<std::string> moves;
  for (const PgnMove& move : games[0]->moves) moves.push_back(move.san);
  return moves;
}

// A one-line tag section before `movetext`, which therefore begins on line 3.
std::string game_of(std::string_view movetext) {
  return "[Site \"here\"]\n\n" + std::string(movetext);
}

using Moves = std::vector<std::string>;

TEST(PgnTest, ReadsTagsMovesAndResult) {
  const auto games = read_pgn(
      "[Event \"A\"]\n"
      "[Site \"game-001\"]\n"
      "\n"
      "1. e4 e5\n"
      "2. Nf3 1/2-1/2\n");
  ASSERT_EQ(games.size(), 1U);
  ASSERT_TRUE(games[0]) << verdict_of(games[0]);
  const PgnGame& game = *games[0];
  EXPECT_EQ(game.name, "game-001");
  EXPECT_EQ(game.ordinal, 1);
  EXPECT_EQ(game.line, 1);
  EXPECT_EQ(game.tags, (std::vector<PgnTag>{{"Event", "A"}, {"Site", "game-001"}}));
  EXPECT_EQ(game.moves, (std::vector<PgnMove>{{"e4", 4}, {"e5", 4}, {"Nf3", 5}}));
  EXPECT_EQ(game.result, "1/2-1/2");
}

TEST(PgnTest, AByteOrderMarkIsNotPartOfTheFirstGame) {
  const auto games = read_pgn("\xEF\xBB\xBF" + game_of("1. e4 *"));
  ASSERT_EQ(games.size(), 1U);
  ASSERT_TRUE(games[0]) << verdict_of(games[0]);
  EXPECT_EQ(games[0]->name, "here");
}

TEST(PgnTest, AnEmptyTextHoldsNoGame) {
  for (const std::string_view text : {"", "\n\n", " ", "; a line\n{ a comment }\n"}) {
    EXPECT_TRUE(read_pgn(text).empty()) << text;
  }
}

TEST(PgnTest, ReadsEveryResult) {
  for (const std::string_view result : {"1-0", "0-1", "1/2-1/2", "*"}) {
    const auto games = read_pgn(game_of(result));
    ASSERT_EQ(games.size(), 1U);
    ASSERT_TRUE(games[0]) << verdict_of(games[0]);
    EXPECT_EQ(games[0]->result, result);
    EXPECT_TRUE(games[0]->moves.empty());
  }
}

TEST(PgnTest, SkipsNumbersInAnyForm) {
  EXPECT_EQ(moves_of(game_of("1.e4 e5 2 . Nf3 2... Nc6 3...Bb5 ...a6 12 Ba4*")),
            (Moves{"e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4"}));
}

TEST(PgnTest, SkipsCommentsAnnotationsAndVariations) {
  EXPECT_EQ(moves_of(game_of("{before} 1. e4 $1 {a (b) \"c\" [d]} ({x} 1. d4 (1. c4 $2) d5 1-0)\n"
                             "1... e5; to the end ( { of the line\n"
                             "2. Nf3!? *{after}")),
            (Moves{"e4", "e5", "Nf3!?"}));
}

TEST(PgnTest, ACommentMayHoldCommandsAndBlankLines) {
  EXPECT_EQ(moves_of(game_of("1. e4 {first\n\n[%clk 0:01:00]} e5 *")), (Moves{"e4", "e5"}));
}

TEST(PgnTest, ReadsWindowsLineEnds) {
  const auto games =
      read_pgn("[Site \"a\"]\r\n\r\n1. e4\r\n*\r\n\r\n[Site \"b\"]\r\n\r\n1. d4\r\n*\r\n");
  ASSERT_EQ(games.size(), 2U);
  ASSERT_TRUE(games[1]) << verdict_of(games[1]);
  EXPECT_EQ(games[1]->line, 6);
  EXPECT_EQ(games[1]->moves, (std::vector<PgnMove>{{"d4", 8}}));
}

TEST(PgnTest, ReadsEscapesInTagValues) {
  const auto games = read_pgn("[Site \"the \\\"club\\\" C:\\\\ a\\b\"] *");
  ASSERT_EQ(games.size(), 1U);
  ASSERT_TRUE(games[0]) << verdict_of(games[0]);
  EXPECT_EQ(games[0]->name, "the \"club\" C:\\ a\\b");
}

TEST(PgnTest, ReadsSeveralTagsOnALine) {
  const auto games = read_pgn("[Event \"a\"][ Site  \"b\" ] [Round \"\"]\n\n*");
  ASSERT_EQ(games.size(), 1U);
  ASSERT_TRUE(games[0]) << verdict_of(games[0]);
  EXPECT_EQ(games[0]->tags, (std::vector<PgnTag>{{"Event", "a"}, {"Site", "b"}, {"Round", ""}}));
}

TEST(PgnTest, GamesMayFollowEachOtherWithoutABlankLine) {
  const auto games = read_pgn("[Site \"a\"]\n1. e4 *\n[Site \"b\"]\n1. d4 *");
  ASSERT_EQ(games.size(), 2U);
  EXPECT_TRUE(games[0]);
  EXPECT_TRUE(games[1]);
  EXPECT_EQ(games[1]->ordinal, 2);
  EXPECT_EQ(games[1]->line, 3);
}

TEST(PgnTest, ReportsDamagedTagsByLine) {
  const std::string head = "[Event \"x\"]\n";
  EXPECT_EQ(verdict_on(head + "[Site \"a\"\n\n1. e4 *"),
            "line 2, ply 0: unterminated tag \"Site\"");
  EXPECT_EQ(verdict_on(head + "[Site"), "line 2, ply 0: unterminated tag \"Site\"");
  EXPECT_EQ(verdict_on(head + "[Site \"a\" b]\n\n*"), "line 2, ply 0: unterminated tag \"Site\"");
  EXPECT_EQ(verdict_on(head + "[Site \"a]\n\n*"),
            "line 2, ply 0: unterminated string in tag \"Site\"");
  EXPECT_EQ(verdict_on(head + "[Site \"a\\\"]\n\n*"),
            "line 2, ply 0: unterminated string in tag \"Site\"");
  EXPECT_EQ(verdict_on(head + "[Site]\n\n*"), "line 2, ply 0: no value in quotes in tag \"Site\"");
  EXPECT_EQ(verdict_on(head + "[Site a]\n\n*"),
            "line 2, ply 0: no value in quotes in tag \"Site\"");
  EXPECT_EQ(verdict_on(head + "[\"a\"]\n\n*"), "line 2, ply 0: tag without a name");
  EXPECT_EQ(verdict_on(head + "[]\n\n*"), "line 2, ply 0: tag without a name");
}

TEST(PgnTest, ReportsAnUnterminatedPartByItsBeginning) {
  EXPECT_EQ(verdict_on(game_of("1. e4 e5\n2. Nf3 {oops\n2... Nc6 *\n")),
            "line 4, ply 3: unterminated comment");
  EXPECT_EQ(verdict_on(game_of("1. e4\n(1. d4 d5\n(1... Nf6)\n1... e5 *\n")),
            "line 4, ply 1: unterminated variation");
  EXPECT_EQ(verdict_on(game_of("1. e4 *\n{oops\n")), "line 4, ply 1: unterminated comment");
}

TEST(PgnTest, ReportsUnknownTokens) {
  for (const std::string_view token :
       {"@@", "Zf3", "!?", "$", "$x", "1e4", "0-0", "--", "<4>", "}", "]", "\"e5\""}) {
    const std::string verdict = verdict_on(game_of("1. e4\n" + std::string(token) + " e5 *"));
    EXPECT_EQ(verdict.substr(0, 30), "line 4, ply 1: unknown token \"") << token << ' ' << verdict;
  }
  EXPECT_EQ(verdict_on(game_of("1. e4 (1. d4\n?!) *")), "line 4, ply 1: unknown token \"?!\"");
}

TEST(PgnTest, ReportsAVariationThatNeverBegan) {
  EXPECT_EQ(verdict_on(game_of("1. e4\n1... e5) *")),
            "line 4, ply 2: end of a variation that never began");
}

TEST(PgnTest, ReportsAMissingResultByTheLastLineOfTheGame) {
  const std::string reason = "no result after the last move: expected 1-0, 0-1, 1/2-1/2 or *";
  EXPECT_EQ(verdict_on(game_of("1. e4\n1... e5\n\n\n")), "line 4, ply 2: " + reason);
  EXPECT_EQ(verdict_on("[Site \"a\"]\n\n\n"), "line 1, ply 0: " + reason);
  EXPECT_EQ(verdict_on(game_of("1. e4 e5\n[Event \"x\"]\n1. d4 *")), "line 3, ply 2: " + reason);
}

TEST(PgnTest, ReportsMovesBeforeAnyTag) {
  EXPECT_EQ(verdict_on("\n1. e4 *"), "line 2, ply 0: movetext before any tag");
  const auto games = read_pgn(game_of("1. e4 *\n1. d4 *"));
  ASSERT_EQ(games.size(), 2U);
  EXPECT_EQ(verdict_of(games[0]), "good");
  EXPECT_EQ(verdict_of(games[1]), "line 4, ply 0: movetext before any tag");
}

TEST(PgnTest, AFailureCarriesTheNameOnceItIsKnown) {
  const auto named = read_pgn("[Site \"a\"]\n[White \"b\n\n*");
  ASSERT_EQ(named.size(), 1U);
  ASSERT_FALSE(named[0]);
  EXPECT_EQ(named[0].error().name, "a");
  const auto nameless = read_pgn("[White \"b\n[Site \"a\"]\n\n*");
  ASSERT_EQ(nameless.size(), 1U);
  ASSERT_FALSE(nameless[0]);
  EXPECT_EQ(nameless[0].error().name, "");
}

TEST(PgnTest, NoDamageReachesTheNeighbours) {
  for (const std::string_view damaged :
       {"[Site \"bad\"\n\n1. e4 *", "[Site \"bad]\n\n1. e4 *", "[]\n\n1. e4 *",
        "[Site \"bad\"]\n\n1. e4 {oops *", "[Site \"bad\"]\n\n1. e4 (oops *",
        "[Site \"bad\"]\n\n1. e4 (d4 *", "[Site \"bad\"]\n\n1. e4", "[Site \"bad\"]",
        "[Site \"bad\"]\n\n1. e4 @ {oops"}) {
    const std::string good = "[Site \"good\"]\n\n1. e4 {fine} *";
    std::string text = good + "\n\n";
    text.append(damaged).append("\n\n").append(good);
    const auto games = read_pgn(text);
    ASSERT_EQ(games.size(), 3U) << damaged;
    EXPECT_TRUE(games[0]) << damaged;
    EXPECT_FALSE(games[1]) << damaged;
    EXPECT_TRUE(games[2]) << damaged;
    EXPECT_EQ(games[2]->ordinal, 3);
  }
}

TEST(PgnTest, DeepNestingDoesNotOverflowTheStack) {
  const std::string open(200'000, '(');
  EXPECT_EQ(verdict_on(game_of("1. e4\n" + open)), "line 4, ply 1: unterminated variation");
  const std::string close(200'000, ')');
  EXPECT_EQ(moves_of(game_of("1. e4 " + open + close + " *")), Moves{"e4"});
}

}  // namespace
}  // namespace corolane::services::chess::rules
