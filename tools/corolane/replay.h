// SPDX-License-Identifier: MIT
// corolane replay: runs a recorded node again.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command replay_command;

}  // namespace corolane::tools::cli
