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

  Result<LookAtPlayerReply> look(const LookAtPlayerRequest& request,
                                 rpc::Context& context) const override;
  Result<google::protobuf::Empty> add_game(const AddGameRequest& request,
                                           rpc::Context& context) override;
};

}  // namespace corolane::services::chess
