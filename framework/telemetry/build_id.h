// SPDX-License-Identifier: MIT
// The build of this program, to compare what it has written with what another build has.
//
//   if (recorded_id != own_build_id()) std::cerr << "another build was recorded\n";
#pragma once

#include <string>

namespace corolane::framework {

// The build id of this program, "4f2e65bb...", as bytes. Empty when the linker has left none.
std::string own_build_id();

}  // namespace corolane::framework
