// /log: the last lines of the log, and a temporary level.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

Result<net::HttpResponse> log_page(Node& node, const net::HttpRequest& request);

// Serves POST /log?level=debug&for=10m.
Result<net::HttpResponse> lend_log_level(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
