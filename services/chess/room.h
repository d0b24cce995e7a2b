// A room: one game of chess with its two seats, its clocks, and those who wait for a move.
//
// Between two suspensions nothing else runs, so a room needs no lock. Only wait_move() and run()
// suspend. Time is the scheduler's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/event.h"
#include "services/chess/chess.pb.h"
#include "services/chess/chess_config.h"
#include "services/chess/rules/game.h"

namespace corolane::services::chess {

// The right to act for a seat; never 0.
using Token = std::uint64_t;

struct PlayedMove {
  std::string san;
  std::string uci;
};

class Room {
 public:
  Room(std::string name, const ChessConfig& config)
      : name_(std::move(name)), config_(config), clocks_{config.clock, config.clock} {}

  // Fails with already_exists when the seat is taken. The clock starts when both are.
  Result<void> take_seat(rules::Color seat, Token token);

  // Fails with permission_denied without a right to act, with failed_precondition out of turn or
  // after the end, with invalid_argument when the rules forbid the move.
  Result<void> move(Token token, std::string_view san);
  Result<void> resign(Token token);
  // Offers a draw, or accepts the opponent's offer.
  Result<void> offer_draw(Token token);
  // Fails with failed_precondition unless the position allows the claim.
  Result<void> claim_draw(Token token);

  // Suspends until that ply (from 1) is played. Fails with failed_precondition when the game ends
  // before it, with deadline_exceeded or cancelled.
  Result<PlayedMove> wait_move(std::size_t ply, Deadline deadline);

  // The life of the room: waits for its players, keeps the clocks until the game is over, then
  // keeps the result for those who still look. Suspends for as long; returns at once when the
  // task is cancelled.
  void run();

  bool is_over() const { return !ended_by_.empty() || game_.is_over(); }
  GameState state() const;

 private:
  bool both_seated() const { return tokens_[0] != 0 && tokens_[1] != 0; }
  // Fails unless the game is on and the token may act in it. A flag that has fallen comes first,
  // even if run() has not seen it yet.
  Result<rules::Color> player(Token token);
  Deadline flag_falls() const;
  void end_by_flag();
  Duration clock_left(rules::Color color) const;
  void end(std::string_view how, std::optional<rules::Color> winner);
  std::string outcome() const;

  std::string name_;
  const ChessConfig& config_;
  rules::Game game_;
  std::vector<PlayedMove> moves_;
  std::array<Token, 2> tokens_{};   // By colour; 0 is an empty seat.
  std::array<Duration, 2> clocks_;  // Left at the start of the present turn.
  TimePoint turn_began_{};
  std::optional<rules::Color> draw_offered_by_;
  std::string ended_by_;  // Unless the rules ended it: "resignation" ...
  std::optional<rules::Color> winner_;
  coroutine::Event changed_{"move or end of a chess game"};
};

}  // namespace corolane::services::chess
