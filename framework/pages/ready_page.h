// /ready: for load balancers and probes.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

// Whether clients should be sent here: 503 with the reasons when not. Asks no other shard: one that
// stands still is a reason, and could not answer.
Result<net::HttpResponse> ready_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
