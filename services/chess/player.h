// The object of one player: a rating, and the games it comes from.
#pragma once

#include <cstdint>

#include "services/chess/game.corolane.h"

namespace corolane::services::chess {

class Player : public PlayerObject {
 public:
  // Of who has not played yet.
  static constexpr std::int32_t first_rating = 1'500;
  // A rating goes no further from the first one than that, whatever games are told.
  static constexpr std::int32_t rating_change_sum_max = 1'000'000;
  // Games that have ended and not scored: with so many of them no other one ends.
  static constexpr int unscored_count_max = 1'000;

  Result<LookAtPlayerReply> look(const LookAtPlayerRequest& request,
                                 rpc::Context& context) const override;
  Result<LookAtPlayerReply> end_game(const EndGameRequest& request, rpc::Context& context) override;
  Result<google::protobuf::Empty> score(const ScoreRequest& request,
                                        rpc::Context& context) override;

  // Asks the games that have not scored to do so: their nodes may have crashed before they did.
  Result<void> on_activate() override;

 private:
  // The place of that game among those that have not scored; -1 when it is none of them.
  int find_unscored(const EndedGame& game) const;
};

}  // namespace corolane::services::chess
