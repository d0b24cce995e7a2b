// The command line of `corolane` as a whole: which command is meant, and help.
#pragma once

#include <span>

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

// Runs what the words after the program's name ask for.
Outcome run_command_line(std::span<const char* const> words);

}  // namespace corolane::tools::cli
