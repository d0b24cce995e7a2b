// What a player has to show for a seat.
#pragma once

#include <cstdint>

namespace corolane::services::chess {

// The right to act for a seat; never 0.
using Token = std::uint64_t;

// One that nobody can guess.
Token new_token();

}  // namespace corolane::services::chess
