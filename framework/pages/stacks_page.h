// /tasks/stacks: where the coroutines of the node wait, equal stacks together.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> stacks_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
