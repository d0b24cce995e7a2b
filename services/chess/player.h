// SPDX-License-Identifier: MIT
// The object of one player: a rating, and its results.
#pragma once

#include <cstdint>

#include "services/chess/game.corolane.h"

namespace corolane::services::chess {

class Player : public PlayerObject {
 public:
  // The rating before the first game.
  static constexpr std::int32_t first_rating = 1'500;
  // A rating never differs from the first one by more than this, whatever changes are reported.
  static constexpr std::int32_t rating_change_sum_max = 1'000'000;
  // The bound of games that have ended and not scored: at the bound no further game can end.
  static constexpr int unscored_count_max = 1'000;

  Result<LookAtPlayerReply> look(const LookAtPlayerRequest& request,
                                 rpc::Context& context) const override;
  Result<LookAtPlayerReply> end_game(const EndGameRequest& request, rpc::Context& context) override;
  Result<google::protobuf::Empty> score(const ScoreRequest& request,
                                        rpc::Context& context) override;

  // Asks the games that have not scored to do so: their nodes may have crashed first.
  Result<void> on_activate() override;

 private:
  // The index of that game among the unscored ones; -1 when it is not among them.
  int find_unscored(const EndedGame& game) const;
};

}  // namespace corolane::services::chess
