#include "services/chess/chess_service.h"

namespace corolane::services::chess {
namespace {

constexpr std::size_t name_size_max = 64;

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

Result<JoinReply> ChessService::join(const JoinRequest& request, rpc::Context&) {
  const auto color = color_of(request.seat());
  if (!color) return color.error();
  auto room = find_or_open(request.game());
  if (!room) return room.error();

  const Token token = (Token{entropy_()} << 32 | entropy_()) | 1;  // Never 0.
  if (auto seated = (*room)->take_seat(*color, token); !seated) return seated.error();

  JoinReply reply;
  reply.set_token(token);
  *reply.mutable_state() = (*room)->state();
  return reply;
}

Result<MoveReply> ChessService::move(const MoveRequest& request, rpc::Context&) {
  auto room = find(request.game());
  if (!room) return room.error();
  if (auto moved = (*room)->move(request.token(), request.san()); !moved) return moved.error();

  MoveReply reply;
  *reply.mutable_state() = (*room)->state();
  reply.set_ply(reply.state().plies());
  return reply;
}

Result<WaitMoveReply> ChessService::wait_move(const WaitMoveRequest& request,
                                              rpc::Context& context) {
  auto room = find(request.game());
  if (!room) return room.error();
  auto played = (*room)->wait_move(request.ply(), context.deadline());
  if (!played) return played.error();

  WaitMoveReply reply;
  reply.set_san(std::move(played->san));
  reply.set_uci(std::move(played->uci));
  return reply;
}

Result<ResignReply> ChessService::resign(const ResignRequest& request, rpc::Context&) {
  return act<ResignReply>(request, &Room::resign);
}

Result<OfferDrawReply> ChessService::offer_draw(const OfferDrawRequest& request, rpc::Context&) {
  return act<OfferDrawReply>(request, &Room::offer_draw);
}

Result<ClaimDrawReply> ChessService::claim_draw(const ClaimDrawRequest& request, rpc::Context&) {
  return act<ClaimDrawReply>(request, &Room::claim_draw);
}

Result<LookReply> ChessService::look(const LookRequest& request, rpc::Context&) {
  auto room = find(request.game());
  if (!room) return room.error();

  LookReply reply;
  *reply.mutable_state() = (*room)->state();
  return reply;
}

template <typename Reply, typename Request>
Result<Reply> ChessService::act(const Request& request, Result<void> (Room::*action)(Token)) {
  auto room = find(request.game());
  if (!room) return room.error();
  if (auto done = (**room.*action)(request.token()); !done) return done.error();

  Reply reply;
  *reply.mutable_state() = (*room)->state();
  return reply;
}

Result<ChessService::RoomHandle> ChessService::find(const std::string& name) const {
  const auto found = rooms_.find(name);
  if (found == rooms_.end()) return Error(Code::not_found, "no game \"" + name + "\" is open");
  return found->second;
}

Result<ChessService::RoomHandle> ChessService::find_or_open(const std::string& name) {
  if (name.empty() || name.size() > name_size_max) {
    return Error(Code::invalid_argument, "game: a name of 1 to 64 bytes");
  }
  if (auto room = find(name)) return room;
  if (rooms_.size() >= config_.rooms_max) {
    return Error(Code::resource_exhausted,
                 "all " + std::to_string(config_.rooms_max) + " rooms are open");
  }
  auto room = std::make_shared<Room>(name, config_);
  auto spawned = room_tasks_.spawn("chess room " + name, [this, name, room] {
    room->run();
    rooms_.erase(name);
  });
  if (!spawned) return spawned.error();
  rooms_.emplace(name, room);
  return room;
}

}  // namespace corolane::services::chess
