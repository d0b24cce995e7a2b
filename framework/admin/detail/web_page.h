// SPDX-License-Identifier: MIT
// The documents for browsers: each is one file that draws the JSON of the pages (web/page.html).
//
//   return net::HttpResponse{.content_type = "text/html", .body = std::string(web_page)};
#pragma once

#include <string_view>

namespace corolane::framework::detail {

extern const std::string_view web_page;
// For the page "/": it has charts besides.
extern const std::string_view web_dashboard;

}  // namespace corolane::framework::detail
