// SPDX-License-Identifier: MIT
// The program behind `tools/bench net`.
#include <array>
#include <chrono>
#include <cstddef>
#include <span>

#include "tools/benchmarks/command.h"
#include "tools/benchmarks/net_rows.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  static constexpr std::array peer_names = {"libuv", "go", "tokio"};
  static constexpr std::array program_names = {"go", "tokio"};
  return corolane::bench::run_command({.name = "net",
                                       .peer_names = peer_names,
                                       .program_names = program_names,
                                       .effort = 1000ms,
                                       .quick_effort = 200ms,
                                       .all_rows = corolane::bench::net_rows},
                                      std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
}
