// /sites: the places that spawn coroutines, and the cost of those.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> sites_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
