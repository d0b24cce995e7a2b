// The rows of `tools/bench coroutine`: operations, limits and bars.
#pragma once

#include <string>
#include <vector>

#include "coroutine/base/result.h"
#include "test/bench/row.h"

namespace corolane::bench {

// A peer that is a program: `program --rows` prints the names of its rows, `program ROW MS` prints
// the value of one, having timed it for about so many milliseconds.
struct ProgramPeer {
  std::string name;
  std::string program;
};

// All rows, in the order in which they are shown, with every C++ peer that this build has and the
// programs given. Fails when a program does not tell its rows.
Result<std::vector<Row>> all_rows(const std::vector<ProgramPeer>& programs);

}  // namespace corolane::bench
