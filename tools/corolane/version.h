// SPDX-License-Identifier: MIT
// corolane version: prints the version.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command version_command;

// "corolane 0.1.0" and a line break.
std::string version_text();

}  // namespace corolane::tools::cli
