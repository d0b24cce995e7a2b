// SPDX-License-Identifier: MIT
// The protocol of the peer colyseus, as far as a client needs it that joins a room and sends bytes
// to it.
#pragma once

#include <cstddef>

#include "tools/benchmarks/network/talk.h"

namespace corolane::bench {

// Clients of one room with the name "bench". A message of that size is of the type "m".
MakeTalk colyseus_talk(std::size_t message_bytes);

}  // namespace corolane::bench
