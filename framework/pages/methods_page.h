// /methods: what the handlers of each method cost.
#pragma once

#include "framework/pages/page.h"

namespace corolane::framework::detail {

// Services by what their servers count, objects by what their hosts do: their calls come from
// servers and from other objects.
Result<net::HttpResponse> methods_page(Node& node, const net::HttpRequest& request);

}  // namespace corolane::framework::detail
