// All commands of `corolane`: what its help, its completion and its manual are made of.
#pragma once

#include <string>
#include <vector>

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

// In the order of the overview.
const std::vector<const Command*>& commands();

// The whole text, with that of the options that all commands of its kind have.
std::string help_of(const Command& command);

// All that it takes, --help included.
std::vector<OptionRule> options_of(const Command& command);

}  // namespace corolane::tools::cli
