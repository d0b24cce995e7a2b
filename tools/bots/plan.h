// SPDX-License-Identifier: MIT
// The plan of the bots: games in PGN, and how each should end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/base/result.h"
#include "services/chess/rules/pgn.h"

namespace corolane::tools::bots {

struct Expected {
  std::size_t plies = 0;
  std::string outcome;
  std::string final_fen;
};

struct PlannedGame {
  services::chess::rules::PgnGame moves;
  std::optional<Expected> expected;  // Empty without a file of expectations.
};

struct Plan {
  std::vector<PlannedGame> games;
  // One line per game that cannot be played: file, line, game, ply and reason.
  std::vector<std::string> damaged;
};

// Reads the games and, unless `expected_path` is empty, their expected results: a CSV file with the
// columns game, plies, outcome, final_fen, uci_moves. Damaged games are skipped and listed. Fails
// when a file cannot be read, or when the CSV is malformed or lacks a game.
Result<Plan> read_plan(const std::string& games_path, const std::string& expected_path);

// Formats a failure of a game: "games.pgn:12: game "game-001", ply 3: reason".
std::string describe_failure(const std::string& file, int line, const std::string& game,
                             int ordinal, std::size_t ply, const std::string& reason);

}  // namespace corolane::tools::bots
