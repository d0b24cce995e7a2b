// /heap: what memory is used for.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

// As the allocator knows it that the process runs with: jemalloc when it is preloaded, otherwise
// that of the C library. With ?format=profile what jemalloc has sampled, for jeprof.
Result<net::HttpResponse> heap_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
