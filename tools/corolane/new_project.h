// SPDX-License-Identifier: MIT
// corolane new: creates a project, a game server that builds and passes its test.
#pragma once

#include <filesystem>
#include <string_view>

#include "coroutine/base/result.h"
#include "tools/corolane/command.h"

namespace corolane::tools::cli {

extern const Command new_command;

// Writes the folder `name` into `parent`: all of it, or nothing. `client` is "none", or "web" for a
// project with a page for browsers. Fails with invalid_argument for an
// invalid name, with already_exists when the path exists, and with unavailable and the message of
// the system for any other error.
Result<void> write_project(const std::filesystem::path& parent, std::string_view name,
                           std::string_view client = "none");

}  // namespace corolane::tools::cli
