// What messages quote and list of a configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corolane::config::detail {

// `text` in quotes and escaped for a message: cut where it is longer than a message should quote.
std::string excerpt(std::string_view text);

// "debug, info, error".
std::string join(const std::vector<std::string>& words);

}  // namespace corolane::config::detail
