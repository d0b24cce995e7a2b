// SPDX-License-Identifier: MIT
#include "services/chess/game.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "coroutine/base/try.h"
#include "coroutine/sync/for_each.h"
#include "framework/edge/user.h"
#include "services/chess/elo.h"
#include "services/chess/hall.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;

// A game that is not over by then was left by both players.
constexpr std::chrono::milliseconds length_max = 24h;
constexpr const char* end_reminder = "end";
// How often a game tells spectators where it stands.
constexpr Duration hall_interval = 2s;

AddGameRequest::Result result_for(rules::Color color, std::optional<rules::Color> winner) {
  if (!winner) return AddGameRequest::DRAW;
  return *winner == color ? AddGameRequest::WIN : AddGameRequest::LOSS;
}

Result<rules::Color> color_of(Seat seat) {
  switch (seat) {
    case WHITE:
      return rules::Color::white;
    case BLACK:
      return rules::Color::black;
    default:
      return Error(Code::invalid_argument, "seat: WHITE or BLACK");
  }
}

}  // namespace

Result<void> Game::on_activate() {
  auto room = Room::restore(id(), config_, state());
  if (!room) return room.error();
  room_ = *std::move(room);
  if (room_.is_open()) end_later();
  set_flag();
  return {};
}

Result<void> Game::on_reminder(const framework::Reminder& reminder) {
  if (reminder.name != end_reminder) return {};
  if (outbox_size() > 0) return Error(Code::unavailable, "the ratings have not changed yet");
  destroy();
  return {};
}

// Stores the clocks, so that the time until now is charged.
void Game::on_deactivate() {
  if (room_.both_seated() && !room_.is_over()) room_.store(change());
}

Result<JoinReply> Game::join(const JoinRequest& request, rpc::Context& context) {
  COROLANE_TRY(const rules::Color color, color_of(request.seat()));
  COROLANE_TRY(end_on_time());
  reopen_if_long_over();
  const Token token = new_token();
  COROLANE_TRY(room_.take_seat(color, token));
  room_.store(change());
  SeatRecord& seat = *change().mutable_seats(std::to_underlying(color));
  seat.set_player(request.player());
  seat.set_user(context.principal().id);
  changed();

  JoinReply reply;
  reply.set_token(token);
  *reply.mutable_state() = room_.state();
  return reply;
}

Result<MoveReply> Game::move(const MoveRequest& request, rpc::Context&) {
  COROLANE_TRY(check_is_open());
  COROLANE_TRY(end_on_time());
  COROLANE_TRY(room_.move(request.token(), request.san()));
  changed();

  MoveReply reply;
  *reply.mutable_state() = room_.state();
  if (const auto next = color_of(reply.state().turn()); next && !room_.is_over()) tell(*next);
  reply.set_ply(reply.state().plies());
  return reply;
}

Result<WaitMoveReply> Game::wait_move(const WaitMoveRequest& request, rpc::Context&) const {
  COROLANE_TRY(const PlayedMove move, wait_for_ply(request.ply()));
  WaitMoveReply reply;
  reply.set_san(move.san);
  reply.set_uci(move.uci);
  return reply;
}

Result<void> Game::follow_moves(const FollowMovesRequest& request, rpc::Writer<GameMove>& moves,
                                rpc::Context&) const {
  for (std::uint32_t ply = std::max(request.from_ply(), 1U);; ++ply) {
    const auto move = wait_for_ply(ply);
    if (!move && move.error().code() == Code::failed_precondition) return {};  // The game is over.
    if (!move) return move.error();
    GameMove played;
    played.set_ply(ply);
    played.set_san(move->san);
    played.set_uci(move->uci);
    COROLANE_TRY(moves.write(played));
  }
}

Result<PlayedMove> Game::wait_for_ply(std::uint32_t ply) const {
  COROLANE_TRY(check_is_open());
  COROLANE_TRY(wait_until([&] {
    const auto move = room_.move_of(ply);
    return is_in_time() && (!move || *move != nullptr || !room_.is_open());
  }));
  COROLANE_TRY(check_is_open());
  COROLANE_TRY(const PlayedMove* const move, room_.move_of(ply));
  return *move;
}

Result<google::protobuf::Empty> Game::wait_opponent(const google::protobuf::Empty&,
                                                    rpc::Context&) const {
  COROLANE_TRY(check_is_open());
  COROLANE_TRY(wait_until([&] {
    return is_in_time() && (room_.both_seated() || room_.is_over() || !room_.is_open());
  }));
  COROLANE_TRY(check_is_open());
  if (!room_.is_over()) return google::protobuf::Empty();
  return Error(Code::failed_precondition, "the game is over: " + room_.state().outcome());
}

Result<ResignReply> Game::resign(const ResignRequest& request, rpc::Context&) {
  return act<ResignReply>(request, &Room::resign);
}

Result<OfferDrawReply> Game::offer_draw(const OfferDrawRequest& request, rpc::Context&) {
  return act<OfferDrawReply>(request, &Room::offer_draw);
}

Result<ClaimDrawReply> Game::claim_draw(const ClaimDrawRequest& request, rpc::Context&) {
  return act<ClaimDrawReply>(request, &Room::claim_draw);
}

Result<LookReply> Game::look(const LookRequest&, rpc::Context&) const {
  COROLANE_TRY(check_is_open());
  COROLANE_TRY(wait_until([&] { return is_in_time(); }));
  LookReply reply;
  *reply.mutable_state() = room_.state();
  for (const rules::Color color : rules::colors) {
    if (!room_.is_seated(color)) continue;
    SeatedPlayer& player =
        color == rules::Color::white ? *reply.mutable_white() : *reply.mutable_black();
    player.set_name(state().seats(std::to_underlying(color)).player());
  }
  return reply;
}

template <typename Reply, typename Request>
Result<Reply> Game::act(const Request& request, Result<void> (Room::*action)(Token)) {
  COROLANE_TRY(check_is_open());
  COROLANE_TRY(end_on_time());
  COROLANE_TRY((room_.*action)(request.token()));
  changed();

  Reply reply;
  *reply.mutable_state() = room_.state();
  return reply;
}

Result<void> Game::check_is_open() const {
  if (room_.is_open()) return {};
  return Error(Code::not_found, "no game \"" + id() + "\" is open");
}

Result<void> Game::end_on_time() {
  if (is_in_time()) return {};
  room_.on_time();
  changed();
  return save();
}

void Game::changed() {
  room_.store(change());
  if (room_.is_over() && state().ended_at_ms() == 0) {
    change().set_ended_at_ms(wall_clock().now().time_since_epoch().count());
    // From the outbox, so the ratings change once, whatever crashes first.
    if (is_rated()) static_cast<void>(GameClient(outbox(), id()).rate({}));
    for (const rules::Color color : rules::colors) tell(color);
  }
  end_later();
  publish(room_.state());
  set_flag();
  tell_hall();
}

void Game::tell(rules::Color color) {
  const std::string& user = state().seats(std::to_underlying(color)).user();
  if (user.empty()) return;
  TurnNotice notice;
  notice.set_game(id());
  *notice.mutable_state() = room_.state();
  // A move counts, whether or not the player can be told.
  static_cast<void>(framework::User(outbox(), user).push_for_good(notice));
}

void Game::tell_hall() {
  if (!room_.both_seated()) return;
  if (!room_.is_over() && told_hall_at_ && now() - *told_hall_at_ < hall_interval) return;
  told_hall_at_ = now();
  const GameState seen = room_.state();
  ListedGame listed;
  listed.set_game(id());
  listed.set_white(state().seats(std::to_underlying(rules::Color::white)).player());
  listed.set_black(state().seats(std::to_underlying(rules::Color::black)).player());
  listed.set_plies(seen.plies());
  listed.set_fen(seen.fen());
  listed.set_outcome(seen.outcome());
  listed.set_winner(seen.winner());
  static_cast<void>(HallClient(router(), Hall::name).tell(listed));
}

void Game::set_flag() {
  timers().cancel(flag_);
  const Deadline next = room_.next_deadline();
  if (next.is_never()) return;
  auto set = timers().after(next.remaining(), [this] { static_cast<void>(end_on_time()); },
                            {.name = "flag"});
  if (set) flag_ = *set;
}

// A name becomes free again some time after its last game ended, at the latest when that game is
// destroyed.
void Game::reopen_if_long_over() {
  const auto kept =
      wall_clock().now().time_since_epoch() - std::chrono::milliseconds(state().ended_at_ms());
  if (!room_.is_over() || outbox_size() > 0 || kept < config_.finished_kept) return;
  change().Clear();
  room_ = Room(id(), config_);
  told_hall_at_.reset();
  reminders().cancel(end_reminder);
}

void Game::end_later() {
  using std::chrono::milliseconds;
  const milliseconds ended_at(state().ended_at_ms());
  const auto present = reminders().find(end_reminder);
  if (ended_at == milliseconds::zero()) {
    if (present) return;
    static_cast<void>(reminders().at(end_reminder, wall_clock().now() + length_max));
    return;
  }
  const framework::WallTime end(ended_at +
                                std::chrono::duration_cast<milliseconds>(config_.finished_kept));
  if (!present || *present > end) static_cast<void>(reminders().at(end_reminder, end));
}

bool Game::is_rated() const {
  if (state().seats_size() != 2) return false;
  const std::string& white = state().seats(0).player();
  const std::string& black = state().seats(1).player();
  return !white.empty() && !black.empty() && white != black;
}

Result<google::protobuf::Empty> Game::rate(const google::protobuf::Empty&, rpc::Context&) {
  if (!room_.is_over() || !is_rated()) return google::protobuf::Empty();
  const std::array names = {state().seats(0).player(), state().seats(1).player()};
  COROLANE_TRY(const auto players, outside([&] {
                 return coroutine::for_each(
                     names, {.concurrency = names.size(), .name = "look at a player"},
                     [&](const std::string& name) { return PlayerClient(router(), name).look({}); },
                     Deadline::never());
               }));
  const std::int32_t to_white =
      rating_change(players[0].rating(), players[1].rating(), room_.winner());
  for (const rules::Color color : rules::colors) {
    AddGameRequest request;
    request.set_rating_change(color == rules::Color::white ? to_white : -to_white);
    request.set_result(result_for(color, room_.winner()));
    PlayerClient player(outbox(), names.at(std::to_underlying(color)));
    COROLANE_TRY(player.add_game(request));
  }
  return google::protobuf::Empty();
}

}  // namespace corolane::services::chess
