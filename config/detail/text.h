// SPDX-License-Identifier: MIT
// Excerpts and lists for messages about a configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corolane::config::detail {

// `text` quoted and escaped for a message, and cut where it is too long for one.
std::string excerpt(std::string_view text);

// "debug, info, error".
std::string join(const std::vector<std::string>& words);

}  // namespace corolane::config::detail
