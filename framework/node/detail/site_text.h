// SPDX-License-Identifier: MIT
// A place in the source, for people: "chess/room.cc:42".
#pragma once

#include <source_location>
#include <string>
#include <string_view>

namespace corolane::framework::detail {

// Our own files relative to the root of the repository.
inline std::string site_text(const std::source_location& site) {
  constexpr std::string_view this_file = __FILE__;
  constexpr std::string_view root = this_file.substr(
      0, this_file.size() - std::string_view("framework/node/detail/site_text.h").size());
  std::string_view file = site.file_name();
  if (file.starts_with(root)) file.remove_prefix(root.size());
  return std::string(file) + ":" + std::to_string(site.line());
}

}  // namespace corolane::framework::detail
