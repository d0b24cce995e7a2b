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

Result<void> Player::on_activate() {
  for (const EndedGame& game : state().unscored_games()) {
    static_cast<void>(GameClient(router(), game.name()).settle({}));
  }
  return {};
}

Result<LookAtPlayerReply> Player::look(const LookAtPlayerRequest&, rpc::Context&) const {
  LookAtPlayerReply reply;
  reply.set_rating(first_rating + bounded(state().rating_change()));
  reply.set_wins(state().wins());
  reply.set_draws(state().draws());
  reply.set_losses(state().losses());
  return reply;
}

Result<LookAtPlayerReply> Player::end_game(const EndGameRequest& request, rpc::Context& context) {
  if (find_unscored(request.game()) < 0) {
    if (state().unscored_games_size() >= unscored_count_max) {
      return Error(Code::resource_exhausted,
                   "player \"" + id() + "\" has too many games that have not scored");
    }
    *change().add_unscored_games() = request.game();
  }
  return look({}, context);
}

Result<google::protobuf::Empty> Player::score(const ScoreRequest& request, rpc::Context&) {
  if (std::abs(std::int64_t{request.rating_change()}) > rating_change_max) {
    return Error(Code::invalid_argument, "rating_change: at most 20 points per game");
  }
  const int place = find_unscored(request.game());
  if (place < 0) return google::protobuf::Empty();
  switch (request.result()) {
    case ScoreRequest::WIN:
      change().set_wins(state().wins() + 1);
      break;
    case ScoreRequest::DRAW:
      change().set_draws(state().draws() + 1);
      break;
    case ScoreRequest::LOSS:
      change().set_losses(state().losses() + 1);
      break;
    default:
      return Error(Code::invalid_argument, "result: WIN, DRAW or LOSS");
  }
  const std::int64_t before = bounded(state().rating_change());
  change().set_rating_change(bounded(before + request.rating_change()));
  change().mutable_unscored_games()->DeleteSubrange(place, 1);
  return google::protobuf::Empty();
}

int Player::find_unscored(const EndedGame& game) const {
  const auto& unscored = state().unscored_games();
  for (int place = 0; place < unscored.size(); ++place) {
    const EndedGame& other = unscored.Get(place);
    if (other.name() == game.name() && other.ended_at_ms() == game.ended_at_ms()) return place;
  }
  return -1;
}

}  // namespace corolane::services::chess
