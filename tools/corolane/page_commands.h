// SPDX-License-Identifier: MIT
// The commands that fetch an admin page of a node and print it: tasks, objects, log, ...
//
// They are rows of a table, which maps their words and options to a request. The query parameter of
// an option is its name without the leading dashes: "--waiting-for" becomes "waiting_for".
#pragma once

#include <span>

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

std::span<const Command> page_commands();

}  // namespace corolane::tools::cli
