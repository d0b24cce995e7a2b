// SPDX-License-Identifier: MIT
// All commands of `corolane`; its help, its completion and its manual come from them.
#pragma once

#include <string>
#include <vector>

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

// The commands in the order of the overview.
const std::vector<const Command*>& commands();

// The whole help text, including the options that all commands of its kind share.
std::string help_of(const Command& command);

// All options of the command, including --help.
std::vector<OptionRule> options_of(const Command& command);

}  // namespace corolane::tools::cli
