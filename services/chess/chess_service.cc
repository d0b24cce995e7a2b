// SPDX-License-Identifier: MIT
#include "services/chess/chess_service.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include "coroutine/base/deadline.h"
#include "framework/edge/follow.h"
#include "rpc/session.h"
#include "services/chess/hall.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t name_size_max = 100;
// The names of the lobby's games contain it.
constexpr std::size_t kind_size_max = 32;
// How long a player who has found an opponent tries to take a seat, and then waits for the opponent
// to do so.
constexpr Duration join_time_max = 5s;
constexpr Duration opponent_time_max = 10s;

// Names are shown to people; the bound of an object's id is larger.
Result<void> check_name(const std::string& name, const char* what) {
  if (!name.empty() && name.size() <= name_size_max) return {};
  return Error(Code::invalid_argument, std::string(what) + ": a name of 1 to 100 bytes");
}

}  // namespace

Result<GameClient> ChessService::game_of(const std::string& name) {
  if (auto named = check_name(name, "game"); !named) return named.error();
  return GameClient(router_, name);
}

Result<JoinReply> ChessService::join(const JoinRequest& request, rpc::Context&) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  if (!request.player().empty()) {
    if (auto named = check_name(request.player(), "player"); !named) return named.error();
  }
  return game->join(request);
}

Result<MoveReply> ChessService::move(const MoveRequest& request, rpc::Context&) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  return game->move(request);
}

Result<WaitMoveReply> ChessService::wait_move(const WaitMoveRequest& request,
                                              rpc::Context& context) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  return game->wait_move(request, {.deadline = context.deadline()});
}

Result<void> ChessService::follow_moves(const FollowMovesRequest& request,
                                        rpc::Writer<GameMove>& out, rpc::Context& context) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  auto moves = game->follow_moves(request, {.deadline = context.deadline()});
  for (GameMove move; moves.read(move);) {
    if (auto written = out.write(move); !written) return written;
  }
  return moves.finish();
}

Result<ResignReply> ChessService::resign(const ResignRequest& request, rpc::Context&) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  return game->resign(request);
}

Result<OfferDrawReply> ChessService::offer_draw(const OfferDrawRequest& request, rpc::Context&) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  return game->offer_draw(request);
}

Result<ClaimDrawReply> ChessService::claim_draw(const ClaimDrawRequest& request, rpc::Context&) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  return game->claim_draw(request);
}

Result<LookReply> ChessService::look(const LookRequest& request, rpc::Context&) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  return game->look(request);
}

Result<void> ChessService::watch(const WatchRequest& request, rpc::Writer<GameState>& out,
                                 rpc::Context& context) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  auto changes = game->subscribe();
  for (;;) {
    const auto change = changes.next(context.deadline());
    if (!change) return change.error();
    GameState state;
    if (change->is_gap()) {
      auto seen = game->look({});
      if (!seen) return seen.error();
      state = std::move(*seen->mutable_state());
    } else {
      state = **change;
    }
    if (auto written = out.write(state); !written) return written;
    if (state.outcome() != "unfinished") return {};
  }
}

Result<FollowReply> ChessService::follow(const FollowRequest& request, rpc::Context& context) {
  auto game = game_of(request.game());
  if (!game) return game.error();
  auto group = framework::follow(context, game->subscribe());
  if (!group) return group.error();
  auto seen = game->look({});
  if (!seen) {
    context.session()->unfollow(*group);
    return seen.error();
  }
  FollowReply reply;
  reply.set_group(*group);
  *reply.mutable_state() = std::move(*seen->mutable_state());
  if (seen->has_white()) *reply.mutable_white() = std::move(*seen->mutable_white());
  if (seen->has_black()) *reply.mutable_black() = std::move(*seen->mutable_black());
  return reply;
}

Result<ListGamesReply> ChessService::list_games(const ListGamesRequest& request, rpc::Context&) {
  return HallClient(router_, Hall::name).look(request);
}

Result<FollowHallReply> ChessService::follow_hall(const FollowHallRequest&, rpc::Context& context) {
  HallClient hall(router_, Hall::name);
  auto group = framework::follow(context, hall.subscribe());
  if (!group) return group.error();
  auto seen = hall.look({});
  if (!seen) {
    context.session()->unfollow(*group);
    return seen.error();
  }
  FollowHallReply reply;
  reply.set_group(*group);
  *reply.mutable_games() = std::move(*seen->mutable_games());
  return reply;
}

Result<SeekReply> ChessService::seek(const SeekRequest& request, rpc::Context& context) {
  if (auto named = check_name(request.player(), "player"); !named) return named.error();
  if (request.kind().size() > kind_size_max) {
    return Error(Code::invalid_argument, "kind: at most 32 bytes");
  }
  const auto player = PlayerClient(router_, request.player()).look({});
  if (!player) return player.error();

  MeetRequest meeting;
  meeting.set_player(request.player());
  meeting.set_rating(player->rating());
  LobbyClient lobby(router_, request.kind());
  const auto met = lobby.meet(meeting, {.deadline = context.deadline()});
  if (!met) return met.error();
  return sit_down(request.player(), *met);
}

Result<SeekReply> ChessService::sit_down(const std::string& player, const MeetReply& met) {
  GameClient game(router_, met.game());
  JoinRequest joining;
  joining.set_game(met.game());
  joining.set_seat(met.seat());
  joining.set_player(player);
  // If the answer to this very call was lost, a retry gets the same seat. The game is new, and each
  // seat has one caller; the name of a player may be too long for a request id.
  const rpc::RequestId request_id{.caller = Seat_Name(met.seat()), .sequence = 1};
  const auto seated =
      game.join(joining, {.deadline = Deadline::after(join_time_max), .request_id = request_id});
  if (!seated) return seated.error();
  const auto begun = game.wait_opponent({}, {.deadline = Deadline::after(opponent_time_max)});
  if (!begun && begun.error().code() == Code::deadline_exceeded) {
    return Error(Code::aborted, "the opponent has left: seek again");
  }
  if (!begun) return begun.error();

  SeekReply reply;
  reply.set_game(met.game());
  reply.set_seat(met.seat());
  reply.set_token(seated->token());
  reply.set_opponent(met.opponent());
  return reply;
}

Result<LookAtPlayerReply> ChessService::look_at_player(const LookAtPlayerRequest& request,
                                                       rpc::Context&) {
  if (auto named = check_name(request.player(), "player"); !named) return named.error();
  return PlayerClient(router_, request.player()).look(request);
}

}  // namespace corolane::services::chess
