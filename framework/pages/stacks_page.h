// /tasks/stacks: where the node's coroutines wait; equal stacks are grouped.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> stacks_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
