// /profile: where the node spends CPU time.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// Takes samples for ?seconds=5, by coroutine. Answers with folded stacks, or a flame graph with
// ?format=svg.
Result<net::HttpResponse> profile_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
