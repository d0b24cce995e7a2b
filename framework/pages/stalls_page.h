// /stalls: who has kept a loop from turning.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

// The last times that a loop did not turn, the newest first, with who kept it and where.
Result<net::HttpResponse> stalls_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
