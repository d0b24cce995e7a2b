// /objects/{type}/{id}: why is this player stuck?
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> object_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
