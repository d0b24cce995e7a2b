// SPDX-License-Identifier: MIT
// The program behind `tools/bench rpc`.
#include <array>
#include <chrono>
#include <cstddef>
#include <span>

#include "tools/benchmarks/command.h"
#include "tools/benchmarks/rpc_rows.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  static constexpr std::array peer_names = {"grpc_cpp", "grpc_go", "tonic"};
  return corolane::bench::run_command({.name = "rpc",
                                       .peer_names = peer_names,
                                       .program_names = peer_names,
                                       .effort = 1000ms,
                                       .quick_effort = 200ms,
                                       .all_rows = corolane::bench::rpc_rows},
                                      std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
}
