// Where a piece may go by the way it moves, the safety of its own king aside.
#pragma once

#include "services/chess/rules/position.h"
#include "services/chess/rules/square.h"
#include "services/chess/rules/square_set.h"

namespace corolane::services::chess::rules::detail {

// For the piece on `from`, of either colour; none when the square is empty. Captures are
// included, en passant too; castling is not.
SquareSet targets_of(const Position& position, Square from);

}  // namespace corolane::services::chess::rules::detail
