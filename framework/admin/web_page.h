// The document for browsers: one file that draws the JSON of the pages (web/page.html).
#pragma once

#include <string_view>

namespace corolane::framework::detail {

extern const std::string_view web_page;

}  // namespace corolane::framework::detail
