// SPDX-License-Identifier: MIT
// Untrusted text inside an error message.
#pragma once

#include <string>
#include <string_view>

namespace corolane::services::chess::rules::detail {

// `text` in double quotes: at most 32 characters of it, with "..." for the rest, and '?' for
// each byte that is not printable ASCII, so that no message grows or breaks by its input.
std::string quote(std::string_view text);

}  // namespace corolane::services::chess::rules::detail
