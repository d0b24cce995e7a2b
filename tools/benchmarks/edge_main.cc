// SPDX-License-Identifier: MIT
// The program behind `tools/bench edge`.
#include <array>
#include <chrono>
#include <cstddef>
#include <span>

#include "tools/benchmarks/command.h"
#include "tools/benchmarks/edge_rows.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  static constexpr std::array peer_names = {"ws", "coder_websocket", "colyseus"};
  return corolane::bench::run_command({.name = "edge",
                                       .peer_names = peer_names,
                                       .program_names = peer_names,
                                       .effort = 1000ms,
                                       .quick_effort = 200ms,
                                       .all_rows = corolane::bench::edge_rows,
                                       .quick_rows = corolane::bench::quick_edge_rows},
                                      std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
}
