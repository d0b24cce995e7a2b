// SPDX-License-Identifier: MIT
// Programs that commands of `corolane` run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::tools::cli {

// All of them look for words[0] as a shell does, and fail with not_found or permission_denied when
// it cannot be started. They block.

// Returns what the program prints. Fails with aborted when it does not end with status 0.
Result<std::string> output_of(std::span<const std::string> words);

// Runs the program in the terminal of the command, with `variables` ("NAME=value") added to the
// environment, and returns its exit status; 128 and more for a signal, as a shell does.
Result<int> run_here(std::span<const std::string> words, std::span<const std::string> variables);

// Replaces this process by the program. Returns only when it cannot.
Error become(std::span<const std::string> words);

// The arguments of exec() and its like, with a null pointer at their end, and why it failed.
std::vector<char*> pointers_to(std::vector<std::string>& texts);
Error cannot_start(const std::string& program, int error_number);

}  // namespace corolane::tools::cli
