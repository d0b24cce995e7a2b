// SPDX-License-Identifier: MIT
// A measurement in its own process: each starts with the same empty heap and fresh stacks, leaves
// nothing behind for the next one, and may fail or crash without ending the run.
#pragma once

#include <string>
#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// Forks, pins the child to one core, measures there, and reads the result through a pipe. Fails as
// the measurement does, when the child crashes, and after two minutes.
Result<Measurement> measure_in_child(const Measure& measure);

// Returns a measure that executes the program, which prints a line with the value and exits.
Measure program_measure(std::string program, std::vector<std::string> arguments);

// Returns the output of the program; fails when its exit status is not 0.
Result<std::string> output_of(const std::string& program, std::vector<std::string> arguments);

}  // namespace corolane::bench
