// /objects: the object types that the node hosts, with statistics, and the members of the cluster.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> objects_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
