// SPDX-License-Identifier: MIT
#include "services/chess/player.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "services/chess/elo.h"

namespace corolane::services::chess {
namespace {

// The sum of all rating changes, clamped: a stored value may lie beyond the bounds.
std::int32_t bounded(std::int64_t change) {
  constexpr std::int64_t limit = Player::rating_change_sum_max;
  return static_cast<std::int32_t>(std::clamp(change, -limit, limit));
}

}  // namespace

Result<LookAtPlayerReply> Player::look(const LookAtPlayerRequest&, rpc::Context&) const {
  LookAtPlayerReply reply;
  reply.set_rating(first_rating + bounded(state().rating_change()));
  reply.set_wins(state().wins());
  reply.set_draws(state().draws());
  reply.set_losses(state().losses());
  return reply;
}

Result<google::protobuf::Empty> Player::add_game(const AddGameRequest& request, rpc::Context&) {
  if (std::abs(std::int64_t{request.rating_change()}) > rating_change_max) {
    return Error(Code::invalid_argument, "rating_change: at most 20 points per game");
  }
  switch (request.result()) {
    case AddGameRequest::WIN:
      change().set_wins(state().wins() + 1);
      break;
    case AddGameRequest::DRAW:
      change().set_draws(state().draws() + 1);
      break;
    case AddGameRequest::LOSS:
      change().set_losses(state().losses() + 1);
      break;
    default:
      return Error(Code::invalid_argument, "result: WIN, DRAW or LOSS");
  }
  const std::int64_t before = bounded(state().rating_change());
  change().set_rating_change(bounded(before + request.rating_change()));
  return google::protobuf::Empty();
}

}  // namespace corolane::services::chess
