// SPDX-License-Identifier: MIT
// How long the handler of Echo/Burn computes.
#pragma once

#include <chrono>

namespace corolane::bench {

// For the servers that are started from now on.
inline std::chrono::nanoseconds burn_time_of_servers = std::chrono::microseconds(100);

inline void set_burn_time(std::chrono::nanoseconds time) { burn_time_of_servers = time; }

}  // namespace corolane::bench
