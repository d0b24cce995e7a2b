// /profile: where the CPU time of the node goes.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

// Samples for ?seconds=5, by coroutine: folded stacks, a flame graph with ?format=svg.
Result<net::HttpResponse> profile_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
