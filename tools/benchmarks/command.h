// What the benchmarks of `tools/bench` have in common: options, the choice of rows, the report.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/row.h"

namespace corolane::bench {

// A peer that is a program: `program --rows` prints the names of the rows it takes part in, one on
// a line. How it is measured depends on the rows, see where they are made.
struct ProgramPeer {
  std::string name;
  std::string program;
};

struct Command {
  const char* name;                            // "coroutine": what `tools/bench` calls it.
  std::span<const char* const> peer_names;     // All that --peers may choose from.
  std::span<const char* const> program_names;  // Those that are programs: --NAME-peer PROGRAM.
  std::chrono::milliseconds effort;            // See set_effort().
  std::chrono::milliseconds quick_effort;
  // All rows, in the order in which they are shown, with every C++ peer that this build has and
  // the programs given.
  Result<std::vector<Row>> (*all_rows)(const std::vector<ProgramPeer>& programs);
};

// Adds a program to each row that it names, measured as `measure_of` says.
Result<void> add_program(const ProgramPeer& peer, std::vector<Row>& rows,
                         const std::function<Measure(const std::string& row)>& measure_of);

// Does what the command line says; returns the exit status.
int run_command(const Command& command, std::span<const char* const> words);

}  // namespace corolane::bench
