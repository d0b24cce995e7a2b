// SPDX-License-Identifier: MIT
// The object of one game: a room that is stored with every move, and the rating changes it causes.
#pragma once

#include <cstdint>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/sync/event.h"
#include "framework/store/store.h"
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
  Result<void> settle(const google::protobuf::Empty& request, rpc::Context& context) override;

  Result<void> on_activate() override;
  void on_deactivate() override;
  Result<void> on_reminder(const framework::Reminder& reminder) override;

 private:
  // Any action of a player except moving; needs the token, returns the new state.
  template <typename Reply, typename Request>
  Result<Reply> act(const Request& request, Result<void> (Room::*action)(Token));
  Result<void> check_is_open() const;
  // Ends and stores a game whose time is up.
  Result<void> end_on_time();
  // The same for read-only calls: they start the ending, and wait for it.
  Result<void> wait_until_on_time(Deadline deadline) const;
  // Suspends until that ply is played. Fails with failed_precondition when the game ends before it.
  Result<PlayedMove> wait_for_ply(std::uint32_t ply, Deadline deadline) const;
  // Suspends until the game has changed, or its time is up.
  Result<void> wait_for_change(Deadline deadline) const;
  // Called after every change of the room.
  void changed();
  // Sets the timer for the flag, for spectators: the game ends when a player's time is up.
  void set_flag();
  void reopen_if_long_over();
  // Ensures that it is destroyed some time after its end, or when both players have left it.
  void end_later();

  // Whether it is over, but its players have not got their rating changes yet.
  bool has_unsettled_end() const;
  void settle_soon() const;
  Result<void> change_ratings(Deadline deadline);
  Result<void> end_for_players(std::int32_t& to_white) const;
  Result<void> tell_players(std::int32_t to_white) const;
  EndedGame ended_game() const;
  template <typename F>
  Result<void> without_turn(Deadline deadline, F work) const;

  const ChessConfig& config_;
  Room room_;
  bool is_settling_ = false;
  framework::TimerId flag_;
  mutable coroutine::Event changed_{"move or end of a chess game"};
};

}  // namespace corolane::services::chess
