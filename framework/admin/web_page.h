// What a browser gets: one file that draws what the pages say in JSON (web/page.html).
#pragma once

#include <string_view>

namespace corolane::framework::detail {

extern const std::string_view web_page;

}  // namespace corolane::framework::detail
