// SPDX-License-Identifier: MIT
// The version of corolane.
//
//   std::cout << "corolane " << version() << '\n';
#pragma once

#include <string_view>

namespace corolane::framework {

// "0.1.0": the version of the project in CMakeLists.txt.
std::string_view version();

}  // namespace corolane::framework
