// SPDX-License-Identifier: MIT
// Plays moves and judges, after each, whether the rules end the game.
#include "services/chess/rules/game.h"

#include <algorithm>
#include <array>
#include <utility>

#include "services/chess/rules/legal_moves.h"
#include "services/chess/rules/uci.h"

namespace corolane::services::chess::rules {
namespace {

// Half-moves of both sides.
constexpr int fifty_moves = 100;
constexpr int seventyfive_moves = 150;

constexpr SquareSet light_squares(0x55AA'55AA'55AA'55AA);

bool has_insufficient_material(const Position& position) {
  const SquareSet knights = position.pieces(PieceKind::knight);
  const SquareSet bishops = position.pieces(PieceKind::bishop);
  const SquareSet minor = knights | bishops;
  if (minor != position.occupied() - position.pieces(PieceKind::king)) return false;
  if (minor.size() <= 1) return true;

  const SquareSet light = bishops & light_squares;
  return knights.empty() && (light.empty() || light == bishops);
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  constexpr std::array<std::string_view, 6> names{
      "unfinished", "checkmate",         "insufficient_material",
      "stalemate",  "seventyfive_moves", "fivefold_repetition"};
  return names[std::to_underlying(outcome)];
}

Game::Game(const Position& start) : reversible_{start}, outcome_(judge()) {}

std::expected<void, std::string> Game::play(Move move) {
  if (is_over()) {
    return std::unexpected("the game is over: " + std::string(to_string(outcome_)));
  }
  if (const auto reason = why_illegal(position(), move)) {
    return std::unexpected("illegal move \"" + to_uci(move) + "\": " + *reason);
  }
  const Position next = position().after(move);
  if (next.halfmove_clock() == 0) reversible_.clear();
  reversible_.push_back(next);
  ++ply_;
  outcome_ = judge();
  return {};
}

std::optional<Color> Game::winner() const {
  if (outcome_ != Outcome::checkmate) return std::nullopt;
  return opponent_of(side_to_move());
}

bool Game::can_claim_threefold() const { return !is_over() && occurrence_count() >= 3; }

bool Game::can_claim_fifty_moves() const {
  return !is_over() && position().halfmove_clock() >= fifty_moves;
}

int Game::occurrence_count() const {
  return static_cast<int>(std::ranges::count_if(
      reversible_, [&](const Position& earlier) { return earlier.repeats(position()); }));
}

Outcome Game::judge() const {
  const bool is_stuck = legal_moves(position()).empty();
  if (is_stuck && position().in_check()) return Outcome::checkmate;
  if (has_insufficient_material(position())) return Outcome::insufficient_material;
  if (is_stuck) return Outcome::stalemate;
  if (position().halfmove_clock() >= seventyfive_moves) return Outcome::seventyfive_moves;
  if (occurrence_count() >= 5) return Outcome::fivefold_repetition;
  return Outcome::unfinished;
}

}  // namespace corolane::services::chess::rules
