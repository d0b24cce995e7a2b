// The commands that ask a node for one of its admin pages and print it: tasks, objects, log, ...
//
// They are rows of a table: what each asks for by its words and options. What an option is called
// without its dashes is what it is called in the query, "--waiting-for" is "waiting_for".
#pragma once

#include <span>

#include "tools/corolane/command.h"

namespace corolane::tools::cli {

std::span<const Command> page_commands();

}  // namespace corolane::tools::cli
