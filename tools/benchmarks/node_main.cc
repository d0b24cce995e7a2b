// SPDX-License-Identifier: MIT
// The program behind `tools/bench node`.
#include <chrono>
#include <cstddef>
#include <span>

#include "tools/benchmarks/command.h"
#include "tools/benchmarks/node_rows.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  return corolane::bench::run_command({.name = "node",
                                       .peer_names = {},
                                       .program_names = {},
                                       .effort = 1000ms,
                                       .quick_effort = 200ms,
                                       .all_rows = corolane::bench::node_rows},
                                      std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
}
