// SPDX-License-Identifier: MIT
// corolane simulate: runs the simulated tests of a program for many seeds.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command simulate_command;

}  // namespace corolane::tools::cli
