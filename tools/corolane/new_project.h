// corolane new: begins a project, a game server that builds and passes its test.
#pragma once

#include <filesystem>
#include <string_view>

#include "coroutine/base/result.h"
#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command new_command;

// Writes the folder `name` into `parent`: all of it, or nothing. Fails with invalid_argument for a
// name that cannot be one, with already_exists when something is there, and otherwise with what the
// system says, as unavailable.
Result<void> write_project(const std::filesystem::path& parent, std::string_view name);

}  // namespace corolane::tools::cli
