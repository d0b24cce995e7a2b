// /log: what the node has logged last, and a level for a while.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> log_page(Node& node, const net::HttpRequest& request);

// POST /log?level=debug&for=10m.
Result<net::HttpResponse> lend_log_level(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
