// /trace: what ran when, switch by switch.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

// Looks for ?seconds=0.2: in text who ran how often and how long, with ?format=json a file for
// ui.perfetto.dev.
Result<net::HttpResponse> trace_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
