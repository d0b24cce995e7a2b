// A measurement in a process of its own: each starts with the same empty heap and fresh stacks,
// leaves nothing behind for the next one, and may fail or crash without ending the run.
#pragma once

#include <string>
#include <vector>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// Forks, pins the child to one core, measures there, and reads the result through a pipe. Fails
// with what the measurement failed with, when the child crashed, and after two minutes.
Result<Measurement> measure_in_child(const Measure& measure);

// A measure that becomes the program, which prints a line with the value and ends.
Measure program_measure(std::string program, std::vector<std::string> arguments);

// What the program prints, when it ends with status 0.
Result<std::string> output_of(const std::string& program, std::vector<std::string> arguments);

}  // namespace corolane::bench
