// /waits: which objects wait for which.
#pragma once

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// Shows the unfinished calls between objects on all nodes, and the cycles among them; as a drawing
// with ?format=svg. A call back into an object that waits for it is refused; this page finds
// objects that wait for one another by different calls.
Result<net::HttpResponse> waits_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
