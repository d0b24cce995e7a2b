// SPDX-License-Identifier: MIT
// The file of a place in the source, for people: "chess/room.cc".
//
//   const std::string_view file = source_path(std::source_location::current());
#pragma once

#include <source_location>
#include <string_view>

namespace corolane {

// Our own files relative to the root of the repository, others as the compiler was given them.
inline std::string_view source_path(const std::source_location& site) {
  constexpr std::string_view this_file = __FILE__;
  constexpr std::string_view root = this_file.substr(
      0, this_file.size() - std::string_view("coroutine/base/source_path.h").size());
  std::string_view file = site.file_name();
  if (file.starts_with(root)) file.remove_prefix(root.size());
  return file;
}

}  // namespace corolane
