// SPDX-License-Identifier: MIT
// corolane call: calls any method of a running node, with JSON.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command call_command;

}  // namespace corolane::tools::cli
