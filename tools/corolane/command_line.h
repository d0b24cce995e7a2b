// SPDX-License-Identifier: MIT
// The whole command line of `corolane`: chooses the command, and prints help.
#pragma once

#include <span>

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

// Runs the command that the words after the program's name ask for.
Outcome run_command_line(std::span<const char* const> words);

}  // namespace corolane::tools::cli
