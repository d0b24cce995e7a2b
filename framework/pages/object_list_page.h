// /objects?type=: the objects of a type that are active, those with the most calls waiting first.
#pragma once

#include <string_view>

#include "framework/pages/page.h"

namespace corolane::framework::detail {

// `type` as it was asked for.
Result<net::HttpResponse> object_list_page(Node& node, const net::HttpRequest& request,
                                           std::string_view type);

}  // namespace corolane::framework::detail
