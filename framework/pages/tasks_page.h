// /tasks: every coroutine of the node; /tasks/{id}: one of them, with its stack.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> tasks_page(Node& node, const net::HttpRequest& request);
Result<net::HttpResponse> task_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
