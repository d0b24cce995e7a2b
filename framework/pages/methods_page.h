// /methods: the cost of each method's handlers.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// Services are measured by their servers, objects by their hosts, since objects are called by
// servers and by other objects.
Result<net::HttpResponse> methods_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
