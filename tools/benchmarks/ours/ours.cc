// SPDX-License-Identifier: MIT
// The table of our functions.
#include "tools/benchmarks/ours/ours.h"

#include "tools/benchmarks/ours/functions.h"

namespace corolane::bench {

constexpr Peer our_peer = {.name = "ours",
                           .yield = our_yield,
                           .create = our_create,
                           .memory = our_memory,
                           .spawn_join = our_spawn_join,
                           .pingpong = our_pingpong,
                           .await = our_await,
                           .for_each = our_for_each,
                           .timer = our_timer};

}  // namespace corolane::bench
