// /: the list of pages.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// Lists the pages; a browser gets the dashboard instead.
Result<net::HttpResponse> root_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
