// SPDX-License-Identifier: MIT
// corolane page: prints an admin page of a running node, for people and for probes.
#pragma once

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command page_command;

}  // namespace corolane::tools::cli
