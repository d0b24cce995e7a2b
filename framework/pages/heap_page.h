// /heap: how memory is used.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// Shows the statistics of the process's allocator: jemalloc when it is preloaded, otherwise that of
// the C library. ?format=profile returns the samples of jemalloc, for jeprof.
Result<net::HttpResponse> heap_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
