// SPDX-License-Identifier: MIT
// corolane: creates a project, and talks to a running node. See `corolane help`.
#include <iostream>
#include <span>

#include "tools/corolane/command_line.h"

int main(int argc, char** argv) {
  using corolane::tools::cli::Failure;
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  const auto outcome = corolane::tools::cli::run_command_line(words.subspan(1));
  if (!outcome) {
    std::cerr << outcome.error().message << '\n';
    return static_cast<int>(outcome.error().kind);
  }
  std::cout << *outcome << std::flush;
  return std::cout ? 0 : static_cast<int>(Failure::Kind::failed);
}
