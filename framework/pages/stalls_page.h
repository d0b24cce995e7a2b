// /stalls: tasks that kept a loop from turning.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// The last stalls of the loops, the newest first, with the task at fault and its stack.
Result<net::HttpResponse> stalls_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
