// SPDX-License-Identifier: MIT
// The program behind `tools/bench objects`.
#include <chrono>
#include <cstddef>
#include <span>

#include "tools/benchmarks/command.h"
#include "tools/benchmarks/object_rows.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  return corolane::bench::run_command({.name = "objects",
                                       .peer_names = {},
                                       .program_names = {},
                                       .effort = 500ms,
                                       .quick_effort = 100ms,
                                       .all_rows = corolane::bench::object_rows},
                                      std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
}
