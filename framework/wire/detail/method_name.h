// SPDX-License-Identifier: MIT
// The name of a method: "package.Counter/Add".
#pragma once

#include <string_view>

namespace corolane::framework::detail {

// "package.Counter".
inline std::string_view type_of(std::string_view method) {
  return method.substr(0, method.find('/'));
}

}  // namespace corolane::framework::detail
