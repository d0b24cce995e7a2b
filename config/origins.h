// SPDX-License-Identifier: MIT
// The origin of each value that is not a default.
//
//   const auto origin = loaded->origins.find("chess.clock");
//   if (origin != loaded->origins.end()) std::cout << "chess.clock is set in " << origin->second;
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace corolane::config {

// Maps the path of a value, "chess.clock" or "rooms[0].name", to its origin: "node.yaml:3",
// "environment COROLANE_CHESS__CLOCK" or "--set chess.clock".
using Origins = std::map<std::string, std::string>;

namespace detail {

inline std::string key_path(const std::string& section, std::string_view key) {
  return section.empty() ? std::string(key) : section + "." + std::string(key);
}

inline std::string element_path(const std::string& list, std::size_t index) {
  return list + "[" + std::to_string(index) + "]";
}

}  // namespace detail
}  // namespace corolane::config
