// SPDX-License-Identifier: MIT
// corolane run: runs a node under a supervisor.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command run_command;

}  // namespace corolane::tools::cli
