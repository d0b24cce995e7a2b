// /waits: who waits for whom.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

// The calls between objects that have not ended, of all nodes, and the cycles in them; as a drawing
// with ?format=svg. A call of an object back into one that waits for it is refused; objects that
// wait for one another by different calls are found here.
Result<net::HttpResponse> waits_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
