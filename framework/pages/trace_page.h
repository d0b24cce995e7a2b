// /trace: which task ran when, switch by switch.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// Traces for ?seconds=0.2. The text says how often and how long each task ran; ?format=json is a
// file for ui.perfetto.dev.
Result<net::HttpResponse> trace_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
