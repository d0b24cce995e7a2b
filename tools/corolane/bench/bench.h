// SPDX-License-Identifier: MIT
// corolane bench: an open-loop load on any method of a running node.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command bench_command;

}  // namespace corolane::tools::cli
