// SPDX-License-Identifier: MIT
// The percent-encoding of URLs (RFC 3986, 2.1): "%20" for a blank.
//
//   std::string decoded;
//   if (!read_percents("two%20words", '+', decoded)) {
//     return Error(Code::invalid_argument, "not a URL");
//   }
#pragma once

#include <string>
#include <string_view>

namespace corolane::net {

// Appends the decoded text to `decoded`; `plus` is the meaning of a "+", a blank in a query. False
// when a code is cut off or invalid.
bool read_percents(std::string_view text, char plus, std::string& decoded);

}  // namespace corolane::net
