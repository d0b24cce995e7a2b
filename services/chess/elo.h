// SPDX-License-Identifier: MIT
// Ratings by Elo, The Rating of Chessplayers (1978), 1.4.
#pragma once

#include <cstdint>
#include <optional>

#include "services/chess/rules/piece.h"

namespace corolane::services::chess {

// The most that a game can change a rating by: FIDE's factor for experienced players (Rating
// Regulations 8.3.3).
constexpr std::int32_t rating_change_max = 20;

// The points that white gains and black loses by a game between players of these ratings; without a
// winner it was a draw.
std::int32_t rating_change(std::int32_t white, std::int32_t black,
                           std::optional<rules::Color> winner);

}  // namespace corolane::services::chess
