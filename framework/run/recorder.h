// SPDX-License-Identifier: MIT
// Another way to run a node: recorded, or again from a recording.
//
//   return run_main(argc, argv, set_up, &recorder);
#pragma once

#include <string>

namespace corolane::framework {

namespace detail {
class Program;
}

// Both return the exit status of the program.
class Recorder {
 public:
  // Runs the node and records its input to node.record.file.
  virtual int record(detail::Program& program) const = 0;
  // Replays the recording; writes what the node asked for and got to `trace`, unless it is empty.
  virtual int replay(detail::Program& program, const std::string& recording,
                     const std::string& trace) const = 0;

 protected:
  ~Recorder() = default;
};

}  // namespace corolane::framework
