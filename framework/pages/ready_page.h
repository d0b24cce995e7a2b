// /ready: for load balancers and probes.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// Answers whether clients should be sent here: 503 with the reasons when not. It asks no other
// shard: one that is stuck is a reason, and could not answer.
Result<net::HttpResponse> ready_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
