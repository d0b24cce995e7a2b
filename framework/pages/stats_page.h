// /stats: what the node has done so far, as JSON; all of its shards together, and a line of each.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> stats_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
