// /objects?type=: the active objects of a type, those with the most waiting calls first.
#pragma once

#include <string_view>

#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {

// `type` is the text of the request.
Result<net::HttpResponse> object_list_page(Node& node, const net::HttpRequest& request,
                                           std::string_view type);

}  // namespace corolane::framework::detail
