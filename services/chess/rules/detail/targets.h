// SPDX-License-Identifier: MIT
// The squares that a piece may move to by its way of moving, regardless of its own king's safety.
#pragma once

#include "services/chess/rules/position.h"
#include "services/chess/rules/square.h"
#include "services/chess/rules/square_set.h"

namespace corolane::services::chess::rules::detail {

// For the piece on `from`, of either colour; empty when the square is. Captures are included, en
// passant too; castling is not.
SquareSet targets_of(const Position& position, Square from);

}  // namespace corolane::services::chess::rules::detail
