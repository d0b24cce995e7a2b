// SPDX-License-Identifier: MIT
// Replays whole files of games: 366 games of people, with the results of another implementation for
// each (test/data/chess/README.md), and a few deliberately damaged ones.
#include <gtest/gtest.h>

#include <expected>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "services/chess/rules/game.h"
#include "services/chess/rules/pgn.h"
#include "services/chess/rules/san.h"
#include "services/chess/rules/uci.h"
#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

struct Replay {
  int plies = 0;
  std::string outcome;
  std::string final_fen;
  std::string uci_moves;

  friend bool operator==(const Replay&, const Replay&) = default;
};

std::ostream& operator<<(std::ostream& out, const Replay& replay) {
  return out << replay.plies << ',' << replay.outcome << ',' << replay.final_fen << ','
             << replay.uci_moves;
}

// The rows of expected.csv by game.
std::map<std::string, Replay> read_expected() {
  std::map<std::string, Replay> rows;
  std::istringstream lines(read_chess_data("expected.csv"));
  std::string line;
  std::getline(lines, line);  // The names of the columns.
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string name;
    std::string plies;
    Replay row;
    std::getline(fields, name, ',');
    std::getline(fields, plies, ',');
    std::getline(fields, row.outcome, ',');
    std::getline(fields, row.final_fen, ',');
    std::getline(fields, row.uci_moves, '\r');  // Lines end in CR LF.
    row.plies = std::stoi(plies);
    rows.emplace(name, row);
  }
  return rows;
}

// "game-001: line 9, ply 12: "; the ply is the number of moves before.
std::string place(const std::string& name, int line, int ply) {
  return name + ": line " + std::to_string(line) + ", ply " + std::to_string(ply) + ": ";
}

// Fails with the place and the reason.
std::expected<Replay, std::string> replay(const PgnGame& record) {
  Game game;
  Replay result;
  for (const PgnMove& move : record.moves) {
    std::string where = place(record.name, move.line, game.ply());
    const auto parsed = parse_san(game.position(), move.san);
    if (!parsed) return std::unexpected(where + parsed.error());
    const std::string written = to_san(game.position(), *parsed);
    if (written != move.san) return std::unexpected(where += "written back as " + written);
    if (auto played = game.play(*parsed); !played) {
      return std::unexpected(where + played.error());
    }
    result.uci_moves += (result.uci_moves.empty() ? "" : " ") + to_uci(*parsed);
  }
  result.plies = game.ply();
  result.outcome = to_string(game.outcome());
  result.final_fen = to_fen(game.position());
  return result;
}

// The verdict on each game of broken.pgn: its outcome, or the place and reason of its failure.
std::vector<std::string> verdicts_on_broken_games() {
  std::vector<std::string> verdicts;
  for (const auto& game : read_pgn(read_chess_data("broken.pgn"))) {
    if (!game) {
      const PgnFailure& failure = game.error();
      verdicts.push_back(place(failure.name, failure.line, failure.ply) + failure.reason);
    } else if (auto played = replay(*game); !played) {
      verdicts.push_back(played.error());
    } else {
      verdicts.push_back(game->name + ": " + played->outcome);
    }
  }
  return verdicts;
}

TEST(RealGamesTest, AllReplayToTheExpectedEnd) {
  const auto expected = read_expected();
  const auto games = read_pgn(read_chess_data("games.pgn"));
  ASSERT_EQ(games.size(), 366U);
  ASSERT_EQ(expected.size(), games.size());

  int plies = 0;
  for (const auto& game : games) {
    ASSERT_TRUE(game) << game.error().name << ": " << game.error().reason;
    const auto played = replay(*game);
    ASSERT_TRUE(played) << played.error();
    ASSERT_TRUE(expected.contains(game->name)) << game->name;
    ASSERT_EQ(*played, expected.at(game->name)) << game->name;
    plies += played->plies;
  }
  EXPECT_EQ(plies, 19'085);
}

TEST(RealGamesTest, DamagedGamesFailByLineAndPlyAndSpareTheOthers) {
  const std::vector<std::string> expected{
      "good-1: checkmate",
      "broken-1-unterminated-tag: line 13, ply 0: unterminated tag \"White\"",
      "broken-2-unknown-token: line 26, ply 6: unknown token \"@@\"",
      "good-2: checkmate",
      std::string("broken-3-illegal-move: line 44, ply 13: ") +
          "illegal move \"Bg5\": no bishop of black can reach g5",
      std::string("broken-4-ambiguous-move: line 52, ply 4: ") +
          "ambiguous move \"Nd2\": knights on b1 and f3 both reach d2",
      std::string("broken-5-malformed-move: line 61, ply 3: ") +
          "malformed move \"Nf9\": expected algebraic notation, such as Nf3, exd5, e8=Q or O-O",
      "good-3: stalemate",
      "broken-6-unterminated-comment: line 78, ply 4: unterminated comment",
      std::string("broken-7-missing-result: line 88, ply 5: ") +
          "no result after the last move: expected 1-0, 0-1, 1/2-1/2 or *",
      "broken-8-unterminated-variation: line 97, ply 3: unterminated variation",
      std::string("broken-9-move-after-mate: line 105, ply 4: ") +
          "illegal move \"Kf2\": it would leave white's king in check",
      "good-4: unfinished"};
  EXPECT_EQ(verdicts_on_broken_games(), expected);
}

}  // namespace
}  // namespace corolane::services::chess::rules
