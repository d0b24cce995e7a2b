// SPDX-License-Identifier: MIT
// What a page says of shards that hang: for how long, and in what.
#pragma once

#include <string>
#include <vector>

#include "framework/cluster/detail/membership.h"
#include "framework/node/node.h"
#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// `shard 0 has not turned for 12.3 s: test.Counter/Spin("x"), broken.cc:34`, as the stall watchdog
// has seen it; without what it does when the shard does not run a task, or is not watched.
// Suspends.
std::string silence_text(Node& node, const ShardSilence& silence);

// Names them on the page as "silent_shards": text and document show them first. Nothing when there
// are none. Suspends.
void name_silent_shards(Json& page, Node& node, const std::vector<ShardSilence>& silent);

}  // namespace corolane::framework::detail
