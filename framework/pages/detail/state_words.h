// SPDX-License-Identifier: MIT
// The state of a node in words: "serving", "draining", "shard 0 has not turned for 12.0 s: ...".
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// {"text", "level", "reasons", "silent_shards"}: the level is good, busy or bad; the text has all
// reasons, the worst first, and the silent shards are their numbers. Asks no shard. Suspends when
// one hangs, to find out in what.
Json state_json(Node& node);

}  // namespace corolane::framework::detail
