// SPDX-License-Identifier: MIT
// A place in the source, for people: "chess/room.cc:42".
#pragma once

#include <source_location>
#include <string>

#include "coroutine/base/source_path.h"

namespace corolane::framework::detail {

inline std::string site_text(const std::source_location& site) {
  return std::string(source_path(site)) + ":" + std::to_string(site.line());
}

}  // namespace corolane::framework::detail
