// /: what there is.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

// What pages there are; to a browser it is the dashboard.
Result<net::HttpResponse> root_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
