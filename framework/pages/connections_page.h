// /connections: the node's connections, incoming and outgoing.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> connections_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
