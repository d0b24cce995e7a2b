// The chess service: rooms by name, and handlers that read as what they do.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <unordered_map>

#include "coroutine/task_group.h"
#include "services/chess/chess.corolane.h"
#include "services/chess/chess_config.h"
#include "services/chess/room.h"

namespace corolane::services::chess {

class ChessService : public ChessBase {
 public:
  explicit ChessService(const ChessConfig& config) : config_(config) {}

  Result<JoinReply> join(const JoinRequest& request, rpc::Context& context) override;
  Result<MoveReply> move(const MoveRequest& request, rpc::Context& context) override;
  Result<WaitMoveReply> wait_move(const WaitMoveRequest& request, rpc::Context& context) override;
  Result<ResignReply> resign(const ResignRequest& request, rpc::Context& context) override;
  Result<OfferDrawReply> offer_draw(const OfferDrawRequest& request,
                                    rpc::Context& context) override;
  Result<ClaimDrawReply> claim_draw(const ClaimDrawRequest& request,
                                    rpc::Context& context) override;
  Result<LookReply> look(const LookRequest& request, rpc::Context& context) override;

 private:
  // Shared, so that a handler that waits in a room outlasts the room's place in the table.
  using RoomHandle = std::shared_ptr<Room>;

  // What a player does to a game besides moving: its token and the new state.
  template <typename Reply, typename Request>
  Result<Reply> act(const Request& request, Result<void> (Room::*action)(Token));
  Result<RoomHandle> find(const std::string& name) const;
  Result<RoomHandle> find_or_open(const std::string& name);

  ChessConfig config_;
  std::random_device entropy_;  // Tokens are rights: nobody may compute the next one.
  std::unordered_map<std::string, RoomHandle> rooms_;
  coroutine::TaskGroup room_tasks_;  // One keeps the clocks of each room.
};

}  // namespace corolane::services::chess
