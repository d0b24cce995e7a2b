// SPDX-License-Identifier: MIT
// The credential of a player for a seat.
#pragma once

#include <cstdint>

namespace corolane::services::chess {

// The right to act for a seat; never 0.
using Token = std::uint64_t;

// An unpredictable one.
Token new_token();

}  // namespace corolane::services::chess
