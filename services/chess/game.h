// SPDX-License-Identifier: MIT
// The object of one game: a room that is stored with every move, and the rating changes it causes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "framework/alarms/object_timers.h"
#include "services/chess/chess_config.h"
#include "services/chess/game.corolane.h"
#include "services/chess/room.h"

namespace corolane::services::chess {

class Game : public GameObject {
 public:
  // `config` outlives it.
  explicit Game(const ChessConfig& config) : config_(config), room_("", config) {}

  Result<JoinReply> join(const JoinRequest& request, rpc::Context& context) override;
  Result<MoveReply> move(const MoveRequest& request, rpc::Context& context) override;
  Result<WaitMoveReply> wait_move(const WaitMoveRequest& request,
                                  rpc::Context& context) const override;
  Result<void> follow_moves(const FollowMovesRequest& request, rpc::Writer<GameMove>& moves,
                            rpc::Context& context) const override;
  Result<google::protobuf::Empty> wait_opponent(const google::protobuf::Empty& request,
                                                rpc::Context& context) const override;
  Result<ResignReply> resign(const ResignRequest& request, rpc::Context& context) override;
  Result<OfferDrawReply> offer_draw(const OfferDrawRequest& request,
                                    rpc::Context& context) override;
  Result<ClaimDrawReply> claim_draw(const ClaimDrawRequest& request,
                                    rpc::Context& context) override;
  Result<LookReply> look(const LookRequest& request, rpc::Context& context) const override;
  Result<google::protobuf::Empty> rate(const google::protobuf::Empty& request,
                                       rpc::Context& context) override;

  Result<void> on_activate() override;
  void on_deactivate() override;
  Result<void> on_reminder(const framework::Reminder& reminder) override;

 private:
  // Any action of a player except moving; needs the token, returns the new state.
  template <typename Reply, typename Request>
  Result<Reply> act(const Request& request, Result<void> (Room::*action)(Token));
  Result<void> check_is_open() const;
  // The game has not been ended by a clock, or that is done.
  bool is_in_time() const { return !room_.next_deadline().has_passed(); }
  // Ends and stores a game whose time is up.
  Result<void> end_on_time();
  // Suspends until that ply is played. Fails with failed_precondition when the game ends before it.
  Result<PlayedMove> wait_for_ply(std::uint32_t ply) const;
  // Called after every change of the room.
  void changed();
  // Pushes the state to the player of that colour, if the player has logged in, when it is stored.
  void tell(rules::Color color);
  // Lists the game for spectators: when both players have come, every few moves, and at its end.
  // Never suspends; a lost report does no harm.
  void tell_hall();
  // Sets the timer for the flag: the game ends when a player's time is up.
  void set_flag();
  void reopen_if_long_over();
  // Ensures that it is destroyed some time after its end, or when both players have left it.
  void end_later();

  // Whether both players have different names.
  bool is_rated() const;

  const ChessConfig& config_;
  Room room_;
  framework::TimerId flag_;
  std::optional<TimePoint> told_hall_at_;
};

}  // namespace corolane::services::chess
