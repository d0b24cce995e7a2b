// SPDX-License-Identifier: MIT
// The program behind `tools/bench coroutine`, which builds it and the peers in other languages.
#include <array>
#include <chrono>
#include <cstddef>
#include <span>

#include "tools/benchmarks/command.h"
#include "tools/benchmarks/coroutine_rows.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  static constexpr std::array peer_names = {"fcontext", "fcontext_tuned", "fcontext_direct",
                                            "ucontext", "cpp20",          "boost_fiber",
                                            "go",       "tokio"};
  static constexpr std::array program_names = {"go", "tokio"};
  return corolane::bench::run_command({.name = "coroutine",
                                       .peer_names = peer_names,
                                       .program_names = program_names,
                                       .effort = 50ms,
                                       .quick_effort = 10ms,
                                       .all_rows = corolane::bench::coroutine_rows},
                                      std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
}
