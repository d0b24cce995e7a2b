// The percent-encoding of URLs (RFC 3986, 2.1): "%20" for a blank.
#pragma once

#include <string>
#include <string_view>

namespace corolane::net {

// Appends to `decoded` what the text stands for; `plus` is what a "+" stands for, a blank in a
// query. False when a code is cut off or none.
bool read_percents(std::string_view text, char plus, std::string& decoded);

}  // namespace corolane::net
