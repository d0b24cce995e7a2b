// SPDX-License-Identifier: MIT
// The completion scripts of each shell, made from the table of commands.
#pragma once

#include <string>
#include <string_view>

namespace corolane::tools::cli {

std::string bash_script();
std::string fish_script();
std::string zsh_script();

// Whether the value of an option is a file.
bool is_file_option(std::string_view option);

}  // namespace corolane::tools::cli
