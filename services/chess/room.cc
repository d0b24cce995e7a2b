#include "services/chess/room.h"

#include <chrono>

#include "coroutine/task.h"
#include "services/chess/rules/fen.h"
#include "services/chess/rules/san.h"
#include "services/chess/rules/uci.h"

namespace corolane::services::chess {
namespace {

std::size_t index_of(rules::Color color) { return std::to_underlying(color); }

Seat seat_from(std::optional<rules::Color> color) {
  if (!color) return SEAT_UNSPECIFIED;
  return *color == rules::Color::white ? WHITE : BLACK;
}

std::uint64_t milliseconds(Duration duration) {
  return static_cast<std::uint64_t>(duration / std::chrono::milliseconds(1));
}

}  // namespace

Result<void> Room::take_seat(rules::Color seat, Token token) {
  Token& taken_by = tokens_[index_of(seat)];
  if (taken_by != 0) {
    return Error(Code::already_exists,
                 std::string(to_string(seat)) + " is taken in game \"" + name_ + "\"");
  }
  if (is_over()) return Error(Code::failed_precondition, "the game is over: " + outcome());
  taken_by = token;
  if (both_seated()) {
    turn_began_ = now();
    changed_.pulse();
  }
  return {};
}

Result<void> Room::move(Token token, std::string_view san) {
  const auto color = player(token);
  if (!color) return color.error();
  if (!both_seated()) return Error(Code::failed_precondition, "the opponent has not come yet");
  if (*color != game_.side_to_move()) {
    return Error(Code::failed_precondition,
                 "it is the turn of " + std::string(to_string(game_.side_to_move())));
  }
  const auto move = rules::parse_san(game_.position(), san);
  if (!move) return Error(Code::invalid_argument, move.error());

  PlayedMove played{.san = to_san(game_.position(), *move), .uci = rules::to_uci(*move)};
  const Duration left = clock_left(*color);
  if (auto done = game_.play(*move); !done) return Error(Code::invalid_argument, done.error());
  clocks_[index_of(*color)] = left;
  turn_began_ = now();
  moves_.push_back(std::move(played));
  if (is_over() || draw_offered_by_ != *color) draw_offered_by_.reset();
  changed_.pulse();
  return {};
}

Result<void> Room::resign(Token token) {
  const auto color = player(token);
  if (!color) return color.error();
  end("resignation", opponent_of(*color));
  return {};
}

Result<void> Room::offer_draw(Token token) {
  const auto color = player(token);
  if (!color) return color.error();
  if (draw_offered_by_ == opponent_of(*color)) {
    end("agreement", std::nullopt);
  } else {
    draw_offered_by_ = *color;
  }
  return {};
}

Result<void> Room::claim_draw(Token token) {
  const auto color = player(token);
  if (!color) return color.error();
  if (game_.can_claim_threefold()) {
    end("threefold_repetition", std::nullopt);
  } else if (game_.can_claim_fifty_moves()) {
    end("fifty_moves", std::nullopt);
  } else {
    return Error(Code::failed_precondition,
                 "no draw can be claimed: the position has not come up three times, and fifty "
                 "moves without capture or pawn move have not passed");
  }
  return {};
}

Result<PlayedMove> Room::wait_move(std::size_t ply, Deadline deadline) {
  if (ply == 0) return Error(Code::invalid_argument, "plies count from 1");
  while (moves_.size() < ply) {
    if (is_over()) {
      return Error(Code::failed_precondition, "the game ended by " + outcome() + " after " +
                                                  std::to_string(moves_.size()) + " plies");
    }
    if (auto waited = changed_.wait(deadline); !waited) return waited.error();
  }
  return moves_[ply - 1];
}

void Room::run() {
  const Deadline seated_by = Deadline::after(config_.seat_time_max);
  while (!is_over()) {
    // What is so now counts, not how the last wait ended: a player may have come in between.
    const Deadline limit = both_seated() ? flag_falls() : seated_by;
    if (!limit.has_passed()) {
      const auto changed = changed_.wait(limit);
      if (!changed && changed.error().code() == Code::cancelled) return;
    } else if (both_seated()) {
      end_by_flag();
    } else {
      end("absence", std::nullopt);
    }
  }
  static_cast<void>(coroutine::sleep_for(config_.finished_kept));
}

GameState Room::state() const {
  GameState state;
  state.set_fen(rules::to_fen(game_.position()));
  state.set_plies(static_cast<std::uint32_t>(moves_.size()));
  state.set_outcome(outcome());
  state.set_winner(seat_from(winner_ ? winner_ : game_.winner()));
  state.set_turn(is_over() ? SEAT_UNSPECIFIED : seat_from(game_.side_to_move()));
  if (!moves_.empty()) state.set_last_san(moves_.back().san);
  state.set_white_clock_ms(milliseconds(clock_left(rules::Color::white)));
  state.set_black_clock_ms(milliseconds(clock_left(rules::Color::black)));
  state.set_draw_offered_by(seat_from(draw_offered_by_));
  return state;
}

Result<rules::Color> Room::player(Token token) {
  if (both_seated() && !is_over() && flag_falls().has_passed()) end_by_flag();
  for (const rules::Color color : rules::colors) {
    if (token == 0 || tokens_[index_of(color)] != token) continue;
    if (is_over()) return Error(Code::failed_precondition, "the game is over: " + outcome());
    return color;
  }
  return Error(Code::permission_denied, "this token has no seat in game \"" + name_ + "\"");
}

Deadline Room::flag_falls() const {
  return Deadline::at(turn_began_ + clocks_[index_of(game_.side_to_move())]);
}

// Who cannot mate does not win (FIDE Laws of Chess, 6.9); of all such cases, the bare king.
void Room::end_by_flag() {
  const rules::Color opponent = opponent_of(game_.side_to_move());
  const bool has_bare_king = game_.position().pieces(opponent).size() == 1;
  end("time", has_bare_king ? std::nullopt : std::optional(opponent));
}

Duration Room::clock_left(rules::Color color) const {
  const bool runs = both_seated() && !is_over() && game_.side_to_move() == color;
  return runs ? flag_falls().remaining() : clocks_[index_of(color)];
}

void Room::end(std::string_view how, std::optional<rules::Color> winner) {
  const rules::Color turn = game_.side_to_move();
  clocks_[index_of(turn)] = clock_left(turn);
  ended_by_ = how;
  winner_ = winner;
  draw_offered_by_.reset();
  changed_.pulse();
}

std::string Room::outcome() const {
  return ended_by_.empty() ? std::string(to_string(game_.outcome())) : ended_by_;
}

}  // namespace corolane::services::chess
