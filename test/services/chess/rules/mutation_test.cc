// SPDX-License-Identifier: MIT
// Reading any mutated text ends in a value or in an error that gives the place, and damage inside
// one game of a PGN spares its neighbours.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "coroutine/testing/random.h"
#include "services/chess/rules/fen.h"
#include "services/chess/rules/pgn.h"
#include "services/chess/rules/san.h"
#include "services/chess/rules/uci.h"
#include "test/services/chess/rules/support.h"

namespace corolane::services::chess::rules {
namespace {

constexpr int round_count = 2'000;

// Replaces, inserts and erases a few characters. Significant letters are likelier.
std::string mutated(std::string text, test::Random& random) {
  constexpr std::string_view marks = "[]{}();$*\"\\.%/-=+x \n\t0189abhKNOQ\xff";
  for (std::uint64_t count = 1 + random.below(4); count > 0; --count) {
    const auto at = random.below(text.size() + 1);
    const char letter =
        random.one_in(8) ? static_cast<char>(random.below(256)) : marks[random.below(marks.size())];
    if (random.one_in(3) || at == text.size()) {
      text.insert(at, 1, letter);
    } else if (random.one_in(2)) {
      text.erase(at, 1);
    } else {
      text[at] = letter;
    }
  }
  return text;
}

TEST(MutationTest, DamageInsideOneGameSparesItsNeighbours) {
  constexpr std::string_view before = "[Site \"before\"]\n\n1. e4 {fine} e5 (1... c5) 1-0\n\n[";
  constexpr std::string_view middle =
      "Event \"a \\\"b\\\"\"]\n[Site \"middle\"]\n\n1. d4 {one} d5 (1... f5 $1 (1... c5)) 2. c4 ; "
      "two\n2... e6 3. Nc3! Nf6 1/2-1/2";
  constexpr std::string_view after = "\n\n[Site \"after\"]\n\n1. c4 {fine} *\n";
  test::Random random;
  for (int round = 0; round < round_count; ++round) {
    const std::string text =
        std::string(before) + mutated(std::string(middle), random) + std::string(after);
    SCOPED_TRACE(text);
    const auto games = read_pgn(text);
    ASSERT_GE(games.size(), 3U);
    ASSERT_TRUE(games.front());
    ASSERT_EQ(games.front()->name, "before");
    ASSERT_TRUE(games.back());
    ASSERT_EQ(games.back()->name, "after");
  }
}

TEST(MutationTest, EveryFailureOfAPgnLiesInsideTheText) {
  const std::string original = read_chess_data("broken.pgn");
  test::Random random;
  for (int round = 0; round < round_count; ++round) {
    const std::string text = mutated(original, random);
    const auto line_count = std::ranges::count(text, '\n') + 1;
    int ordinal = 0;
    for (const auto& game : read_pgn(text)) {
      ++ordinal;
      ASSERT_EQ(game ? game->ordinal : game.error().ordinal, ordinal);
      const int line = game ? game->line : game.error().line;
      ASSERT_GE(line, 1);
      ASSERT_LE(line, line_count);
    }
  }
}

TEST(MutationTest, AFenIsReadOrRefusedWithAReason) {
  test::Random random;
  const std::string original = to_fen(Position());
  for (int round = 0; round < round_count; ++round) {
    const std::string text = mutated(original, random);
    const auto position = parse_fen(text);
    if (position) {
      EXPECT_EQ(parse_fen(to_fen(*position)), *position) << text;
    } else {
      EXPECT_NE(position.error().find(": "), std::string::npos) << text;
    }
  }
}

TEST(MutationTest, AMoveIsReadOrRefusedWithAReason) {
  constexpr std::string_view verdicts[] = {"malformed move ", "illegal move ", "ambiguous move "};
  const auto has_verdict = [&](const std::string& error) {
    return std::ranges::any_of(verdicts, [&](auto verdict) { return error.starts_with(verdict); });
  };
  const Position position =
      position_of("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -");
  test::Random random;
  for (int round = 0; round < round_count; ++round) {
    for (const auto* original : {"Nxd7", "dxe6", "O-O-O", "gxh3", "Bxa6+!", "Q3f5", "e8=Q#"}) {
      const std::string text = mutated(original, random);
      const auto san = parse_san(position, text);
      EXPECT_TRUE(san || has_verdict(san.error())) << text;
    }
    const std::string text = mutated("e2a6", random);
    const auto uci = parse_uci(position, text);
    EXPECT_TRUE(uci || has_verdict(uci.error())) << text;
  }
}

}  // namespace
}  // namespace corolane::services::chess::rules
