// SPDX-License-Identifier: MIT
// corolane drain: starts the graceful shutdown of a node, and waits for its end.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command drain_command;

}  // namespace corolane::tools::cli
