// SPDX-License-Identifier: MIT
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

std::optional<rules::Color> color_from(Seat seat) {
  if (seat == SEAT_UNSPECIFIED) return std::nullopt;
  return seat == WHITE ? rules::Color::white : rules::Color::black;
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
  (both_seated() ? turn_began_ : opened_at_) = now();
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

Result<const PlayedMove*> Room::move_of(std::size_t ply) const {
  if (ply == 0) return Error(Code::invalid_argument, "plies count from 1");
  if (ply <= moves_.size()) return &moves_[ply - 1];
  if (!is_over()) return nullptr;
  return Error(Code::failed_precondition, "the game ended by " + outcome() + " after " +
                                              std::to_string(moves_.size()) + " plies");
}

Deadline Room::next_deadline() const {
  if (is_over() || !is_open()) return Deadline::never();
  return both_seated() ? flag_falls() : Deadline::at(opened_at_ + config_->seat_time_max);
}

void Room::on_time() {
  if (!next_deadline().has_passed()) return;
  if (both_seated()) {
    end_by_flag();
  } else {
    end("absence", std::nullopt);
  }
}

void Room::store(GameRecord& record) const {
  while (record.seats_size() < 2) record.add_seats();
  for (const rules::Color color : rules::colors) {
    SeatRecord& seat = *record.mutable_seats(static_cast<int>(index_of(color)));
    seat.set_token(tokens_[index_of(color)]);
    seat.set_clock_ns(clock_left(color).count());
  }
  // Moves are never taken back.
  for (std::size_t i = static_cast<std::size_t>(record.moves_size()); i < moves_.size(); ++i) {
    record.add_moves(moves_[i].uci);
  }
  record.set_draw_offered_by(seat_from(draw_offered_by_));
  record.set_ended_by(ended_by_);
  record.set_winner(seat_from(winner_));
}

Result<Room> Room::restore(std::string name, const ChessConfig& config, const GameRecord& record) {
  Room room(std::move(name), config);
  if (auto loaded = room.load(record); !loaded) {
    return Error(Code::data_loss, "game \"" + room.name_ + "\": " + loaded.error().message());
  }
  return room;
}

Result<void> Room::load(const GameRecord& record) {
  // A name without a game yet.
  if (record.ByteSizeLong() == 0) return {};
  if (record.seats_size() != 2) return Error(Code::data_loss, "a game has two seats");
  for (const rules::Color color : rules::colors) {
    const SeatRecord& seat = record.seats(static_cast<int>(index_of(color)));
    if (seat.clock_ns() < 0) return Error(Code::data_loss, "a clock is below zero");
    tokens_[index_of(color)] = seat.token();
    clocks_[index_of(color)] = Duration(seat.clock_ns());
  }
  const bool may_have_moves = both_seated() || record.moves().empty();
  if (!is_open() || !may_have_moves) return Error(Code::data_loss, "a seat is empty");
  for (const std::string& uci : record.moves()) {
    const auto move = rules::parse_uci(game_.position(), uci);
    if (!move) return Error(Code::data_loss, move.error());
    moves_.push_back({.san = to_san(game_.position(), *move), .uci = uci});
    if (auto played = game_.play(*move); !played) return Error(Code::data_loss, played.error());
  }
  const bool ends_twice = game_.is_over() && !record.ended_by().empty();
  const bool has_end = !record.ended_by().empty() || record.winner() == SEAT_UNSPECIFIED;
  if (ends_twice || !has_end || !Seat_IsValid(record.winner()) ||
      !Seat_IsValid(record.draw_offered_by())) {
    return Error(Code::data_loss, "its end is invalid");
  }
  draw_offered_by_ = color_from(record.draw_offered_by());
  ended_by_ = record.ended_by();
  winner_ = color_from(record.winner());
  opened_at_ = turn_began_ = now();
  return {};
}

GameState Room::state() const {
  GameState state;
  state.set_fen(rules::to_fen(game_.position()));
  state.set_plies(static_cast<std::uint32_t>(moves_.size()));
  state.set_outcome(outcome());
  state.set_winner(seat_from(winner()));
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

// A player who cannot mate does not win (FIDE Laws of Chess, 6.9); of all such cases, this covers
// the bare king.
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
}

std::string Room::outcome() const {
  return ended_by_.empty() ? std::string(to_string(game_.outcome())) : ended_by_;
}

}  // namespace corolane::services::chess
