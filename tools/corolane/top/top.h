// SPDX-License-Identifier: MIT
// corolane top: shows a node live in the terminal.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command top_command;

}  // namespace corolane::tools::cli
