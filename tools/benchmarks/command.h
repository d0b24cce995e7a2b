// SPDX-License-Identifier: MIT
// Shared code of the benchmarks of `tools/bench`: options, the choice of rows, the report.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/row.h"

namespace corolane::bench {

// A peer that is a program: `program --rows` prints the names of its rows, one per line. The rows
// determine how it is measured.
struct ProgramPeer {
  std::string name;
  std::string program;
};

struct Command {
  const char* name;                            // Its name in `tools/bench`, such as "coroutine".
  std::span<const char* const> peer_names;     // The choices of --peers.
  std::span<const char* const> program_names;  // The peers that are programs: --NAME-peer PROGRAM.
  std::chrono::milliseconds effort;            // See set_effort().
  std::chrono::milliseconds quick_effort;
  // Returns all rows in the order of the report, with the C++ peers of this build and the given
  // programs.
  Result<std::vector<Row>> (*all_rows)(const std::vector<ProgramPeer>& programs);
  // The same for a quick run; null: all_rows.
  Result<std::vector<Row>> (*quick_rows)(const std::vector<ProgramPeer>& programs) = nullptr;
};

// Adds a program to each row that it names, with the measure from `measure_of`.
Result<void> add_program(const ProgramPeer& peer, std::vector<Row>& rows,
                         const std::function<Measure(const std::string& row)>& measure_of);

// Executes the command line, and returns the exit status.
int run_command(const Command& command, std::span<const char* const> words);

}  // namespace corolane::bench
