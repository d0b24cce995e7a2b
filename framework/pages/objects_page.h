// /objects: what the node hosts and has done to it, and who else is in the cluster.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> objects_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
