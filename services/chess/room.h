// SPDX-License-Identifier: MIT
// A room: one game of chess with its two seats and its clocks. Nothing in it suspends. Its time is
// the scheduler's.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "services/chess/chess.pb.h"
#include "services/chess/chess_config.h"
#include "services/chess/game.pb.h"
#include "services/chess/rules/game.h"
#include "services/chess/token.h"

namespace corolane::services::chess {

struct PlayedMove {
  std::string san;
  std::string uci;
};

class Room {
 public:
  Room(std::string name, const ChessConfig& config)
      : name_(std::move(name)), config_(&config), clocks_{config.clock, config.clock} {}

  // Restores a stored room: its clock continues from there. Fails with data_loss when the record
  // violates the rules.
  static Result<Room> restore(std::string name, const ChessConfig& config,
                              const GameRecord& record);
  // Writes all fields except those for other objects, with the clocks of this moment.
  void store(GameRecord& record) const;

  // Fails with already_exists when the seat is taken. The clock starts when both seats are taken.
  Result<void> take_seat(rules::Color seat, Token token);

  // Fails with permission_denied without a right to act, with failed_precondition out of turn or
  // after the end, with invalid_argument when the rules forbid the move.
  Result<void> move(Token token, std::string_view san);
  Result<void> resign(Token token);
  // Offers a draw, or accepts the opponent's offer.
  Result<void> offer_draw(Token token);
  // Fails with failed_precondition unless the position allows the claim.
  Result<void> claim_draw(Token token);

  // The move of that ply (from 1); null when it is not played yet. Fails with failed_precondition
  // when the game has ended before it.
  Result<const PlayedMove*> move_of(std::size_t ply) const;

  // The deadline for the next move, or for the second player: then on_time() ends the game. Never,
  // when it is over or has no players yet.
  Deadline next_deadline() const;
  void on_time();

  bool is_open() const { return tokens_[0] != 0 || tokens_[1] != 0; }
  bool is_seated(rules::Color color) const { return tokens_.at(std::to_underlying(color)) != 0; }
  bool both_seated() const { return tokens_[0] != 0 && tokens_[1] != 0; }
  bool is_over() const { return !ended_by_.empty() || game_.is_over(); }
  // Nothing for a draw, and before the end.
  std::optional<rules::Color> winner() const { return winner_ ? winner_ : game_.winner(); }
  GameState state() const;

 private:
  Result<void> load(const GameRecord& record);
  // Fails unless the game is running and the token may act in it. A fallen flag comes first, even
  // if on_time() has not noticed it yet.
  Result<rules::Color> player(Token token);
  Deadline flag_falls() const;
  void end_by_flag();
  Duration clock_left(rules::Color color) const;
  void end(std::string_view how, std::optional<rules::Color> winner);
  std::string outcome() const;

  std::string name_;
  const ChessConfig* config_;
  rules::Game game_;
  std::vector<PlayedMove> moves_;
  std::array<Token, 2> tokens_{};   // By colour; 0 is an empty seat.
  std::array<Duration, 2> clocks_;  // Left at the start of the present turn.
  TimePoint turn_began_{};
  std::optional<rules::Color> draw_offered_by_;
  std::string ended_by_;  // Empty if the rules ended it; "resignation" ...
  std::optional<rules::Color> winner_;
  TimePoint opened_at_{};  // When the first player came.
};

}  // namespace corolane::services::chess
