// SPDX-License-Identifier: MIT
#include "services/chess/game.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "coroutine/sync/for_each.h"
#include "coroutine/task.h"
#include "services/chess/elo.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;

// The pause between attempts to reach a player object that is unavailable.
constexpr Duration settle_interval = 1s;
// The interval of the reminder for a game whose node has died.
constexpr std::chrono::milliseconds settle_again_after = 1min;
constexpr const char* settle_reminder = "settle";
// A game that is not over by then was left by both players.
constexpr std::chrono::milliseconds length_max = 24h;
constexpr const char* end_reminder = "end";

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
  if (has_unsettled_end()) settle_soon();
  if (room_.is_open()) end_later();
  set_flag();
  return {};
}

Result<void> Game::on_reminder(const framework::Reminder& reminder) {
  if (has_unsettled_end()) settle_soon();
  if (reminder.name != end_reminder) return {};
  if (has_unsettled_end()) return Error(Code::unavailable, "the ratings have not changed yet");
  destroy();
  return {};
}

// Stores the clocks, so that the time until now is charged.
void Game::on_deactivate() {
  if (room_.both_seated() && !room_.is_over()) room_.store(change());
}

Result<JoinReply> Game::join(const JoinRequest& request, rpc::Context&) {
  const auto color = color_of(request.seat());
  if (!color) return color.error();
  if (auto on_time = end_on_time(); !on_time) return on_time.error();
  reopen_if_long_over();
  const Token token = new_token();
  if (auto seated = room_.take_seat(*color, token); !seated) return seated.error();
  changed();
  change().mutable_seats(std::to_underlying(*color))->set_player(request.player());

  JoinReply reply;
  reply.set_token(token);
  *reply.mutable_state() = room_.state();
  return reply;
}

Result<MoveReply> Game::move(const MoveRequest& request, rpc::Context&) {
  if (auto open = check_is_open(); !open) return open.error();
  if (auto on_time = end_on_time(); !on_time) return on_time.error();
  if (auto moved = room_.move(request.token(), request.san()); !moved) return moved.error();
  changed();

  MoveReply reply;
  *reply.mutable_state() = room_.state();
  reply.set_ply(reply.state().plies());
  return reply;
}

Result<WaitMoveReply> Game::wait_move(const WaitMoveRequest& request, rpc::Context& context) const {
  const auto move = wait_for_ply(request.ply(), context.deadline());
  if (!move) return move.error();
  WaitMoveReply reply;
  reply.set_san(move->san);
  reply.set_uci(move->uci);
  return reply;
}

Result<void> Game::follow_moves(const FollowMovesRequest& request, rpc::Writer<GameMove>& moves,
                                rpc::Context& context) const {
  for (std::uint32_t ply = std::max(request.from_ply(), 1U);; ++ply) {
    const auto move = wait_for_ply(ply, context.deadline());
    if (!move && move.error().code() == Code::failed_precondition) return {};  // The game is over.
    if (!move) return move.error();
    GameMove played;
    played.set_ply(ply);
    played.set_san(move->san);
    played.set_uci(move->uci);
    if (auto written = moves.write(played); !written) return written;
  }
}

Result<PlayedMove> Game::wait_for_ply(std::uint32_t ply, Deadline deadline) const {
  for (;;) {
    if (auto open = check_is_open(); !open) return open.error();
    if (auto on_time = wait_until_on_time(deadline); !on_time) return on_time.error();
    auto move = room_.move_of(ply);
    if (!move) return move.error();
    if (*move != nullptr) return **move;
    if (auto waited = wait_for_change(deadline); !waited) return waited.error();
  }
}

Result<google::protobuf::Empty> Game::wait_opponent(const google::protobuf::Empty&,
                                                    rpc::Context& context) const {
  for (;;) {
    if (auto open = check_is_open(); !open) return open.error();
    if (auto on_time = wait_until_on_time(context.deadline()); !on_time) return on_time.error();
    if (room_.is_over()) {
      return Error(Code::failed_precondition, "the game is over: " + room_.state().outcome());
    }
    if (room_.both_seated()) return google::protobuf::Empty();
    if (auto waited = wait_for_change(context.deadline()); !waited) return waited.error();
  }
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

Result<LookReply> Game::look(const LookRequest&, rpc::Context& context) const {
  if (auto open = check_is_open(); !open) return open.error();
  if (auto on_time = wait_until_on_time(context.deadline()); !on_time) return on_time.error();
  if (has_unsettled_end() && !is_settling_) settle_soon();
  LookReply reply;
  *reply.mutable_state() = room_.state();
  return reply;
}

template <typename Reply, typename Request>
Result<Reply> Game::act(const Request& request, Result<void> (Room::*action)(Token)) {
  if (auto open = check_is_open(); !open) return open.error();
  if (auto on_time = end_on_time(); !on_time) return on_time.error();
  if (auto done = (room_.*action)(request.token()); !done) return done.error();
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
  if (!room_.next_deadline().has_passed()) return {};
  room_.on_time();
  changed();
  return save();
}

Result<void> Game::wait_until_on_time(Deadline deadline) const {
  while (room_.next_deadline().has_passed()) {
    settle_soon();
    if (auto waited = wait_for(changed_, deadline); !waited) return waited;
  }
  return {};
}

Result<void> Game::wait_for_change(Deadline deadline) const {
  auto waited = wait_for(changed_, earlier(deadline, room_.next_deadline()));
  const bool is_late = !waited && waited.error().code() == Code::deadline_exceeded;
  if (is_late && !deadline.has_passed()) return {};
  return waited;
}

void Game::changed() {
  room_.store(change());
  if (room_.is_over() && state().ended_at_ms() == 0) {
    change().set_ended_at_ms(wall_clock().now().time_since_epoch().count());
    if (has_unsettled_end()) {
      settle_soon();
      // Needed if this node dies first, or a player object stays unavailable.
      static_cast<void>(reminders().every(settle_reminder, wall_clock().now() + settle_again_after,
                                          settle_again_after));
    }
  }
  end_later();
  publish(room_.state());
  set_flag();
  changed_.pulse();
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
  if (!room_.is_over() || has_unsettled_end() || kept < config_.finished_kept) return;
  change().Clear();
  room_ = Room(id(), config_);
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

bool Game::has_unsettled_end() const {
  if (!room_.is_over() || state().transfer().is_done()) return false;
  const std::string& white = state().seats(0).player();
  const std::string& black = state().seats(1).player();
  return !white.empty() && !black.empty() && white != black;
}

void Game::settle_soon() const { static_cast<void>(GameClient(router(), id()).settle({})); }

Result<void> Game::settle(const google::protobuf::Empty&, rpc::Context& context) {
  if (auto on_time = end_on_time(); !on_time) return on_time;
  if (!has_unsettled_end() || is_settling_) return {};
  is_settling_ = true;
  auto settled = change_ratings(context.deadline());
  is_settling_ = false;
  return settled;
}

// A saga: the rating change is decided and stored, then each player is notified until it has stored
// it. If that is interrupted, it starts again at the next activation, which a reminder ensures.
Result<void> Game::change_ratings(Deadline deadline) {
  if (!state().has_transfer()) {
    std::int32_t to_white = 0;
    auto ended = without_turn(deadline, [&] { return end_for_players(to_white); });
    if (!ended) return ended;
    change().mutable_transfer()->set_to_white(to_white);
  }
  if (auto saved = save(); !saved) return saved;
  const std::int32_t to_white = state().transfer().to_white();
  if (auto told = without_turn(deadline, [&] { return tell_players(to_white); }); !told)
    return told;
  change().mutable_transfer()->set_is_done(true);
  reminders().cancel(settle_reminder);
  return {};
}

Result<void> Game::end_for_players(std::int32_t& to_white) const {
  EndGameRequest request;
  *request.mutable_game() = ended_game();
  const std::array names = {state().seats(0).player(), state().seats(1).player()};
  const auto players = coroutine::for_each(
      names, {.concurrency = names.size(), .name = "end game"},
      [&](const std::string& name) { return PlayerClient(router(), name).end_game(request); },
      Deadline::never());
  if (!players) return players.error();
  to_white = rating_change(players->at(0).rating(), players->at(1).rating(), room_.winner());
  return {};
}

Result<void> Game::tell_players(std::int32_t to_white) const {
  for (const rules::Color color : rules::colors) {
    const bool is_white = color == rules::Color::white;
    ScoreRequest request;
    *request.mutable_game() = ended_game();
    request.set_rating_change(is_white ? to_white : -to_white);
    request.set_result(!room_.winner()            ? ScoreRequest::DRAW
                       : *room_.winner() == color ? ScoreRequest::WIN
                                                  : ScoreRequest::LOSS);
    const std::string& player = state().seats(std::to_underlying(color)).player();
    if (auto told = PlayerClient(router(), player).score(request); !told) return told.error();
  }
  return {};
}

EndedGame Game::ended_game() const {
  EndedGame game;
  game.set_name(id());
  game.set_ended_at_ms(state().ended_at_ms());
  return game;
}

// Runs `work` without the turn: other calls may look at the game while it waits for a player, who
// may be unavailable for a while.
template <typename F>
Result<void> Game::without_turn(Deadline deadline, F work) const {
  coroutine::Event ended{"players of a game that has ended"};
  auto calls = coroutine::spawn("settle", [&]() -> Result<void> {
    for (Result<void> done = work(); !done; done = work()) {
      if (auto slept = coroutine::sleep_for(settle_interval); !slept) return slept;
    }
    ended.set();
    return {};
  });
  if (!calls.is_done()) {
    if (auto waited = wait_for(ended, deadline); !waited) return waited;
  }
  return calls.join(Deadline::never());
}

}  // namespace corolane::services::chess
