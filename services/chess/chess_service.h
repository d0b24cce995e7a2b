// SPDX-License-Identifier: MIT
// The service that clients call: the objects of game.proto do the work, wherever they live.
#pragma once

#include <string>

#include "framework/routing/router.h"
#include "services/chess/chess.corolane.h"
#include "services/chess/game.corolane.h"

namespace corolane::services::chess {

class ChessService : public ChessBase {
 public:
  // `router` outlives it.
  explicit ChessService(framework::Router& router) : router_(router) {}

  Result<JoinReply> join(const JoinRequest& request, rpc::Context& context) override;
  Result<MoveReply> move(const MoveRequest& request, rpc::Context& context) override;
  Result<WaitMoveReply> wait_move(const WaitMoveRequest& request, rpc::Context& context) override;
  Result<void> follow_moves(const FollowMovesRequest& request, rpc::Writer<GameMove>& out,
                            rpc::Context& context) override;
  Result<ResignReply> resign(const ResignRequest& request, rpc::Context& context) override;
  Result<OfferDrawReply> offer_draw(const OfferDrawRequest& request,
                                    rpc::Context& context) override;
  Result<ClaimDrawReply> claim_draw(const ClaimDrawRequest& request,
                                    rpc::Context& context) override;
  Result<LookReply> look(const LookRequest& request, rpc::Context& context) override;
  Result<FollowReply> follow(const FollowRequest& request, rpc::Context& context) override;
  Result<void> watch(const WatchRequest& request, rpc::Writer<GameState>& out,
                     rpc::Context& context) override;
  Result<SeekReply> seek(const SeekRequest& request, rpc::Context& context) override;
  Result<ListGamesReply> list_games(const ListGamesRequest& request,
                                    rpc::Context& context) override;
  Result<FollowHallReply> follow_hall(const FollowHallRequest& request,
                                      rpc::Context& context) override;
  Result<LookAtPlayerReply> look_at_player(const LookAtPlayerRequest& request,
                                           rpc::Context& context) override;

 private:
  // Fails with invalid_argument when the name is not valid.
  Result<GameClient> game_of(const std::string& name);
  // Takes a seat in the game of two players who have met.
  Result<SeekReply> sit_down(const std::string& player, const MeetReply& met);

  framework::Router& router_;
};

}  // namespace corolane::services::chess
