// /stats: the node's counters as JSON, summed over its shards, and a row for each shard.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> stats_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
