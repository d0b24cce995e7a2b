// /slow: the slowest calls of the last minutes, and the last ones that failed.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> slow_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
