// SPDX-License-Identifier: MIT
// A child process that exchanges lines with its parent over two pipes. It dies with its handle,
// with its parent, and after patience_seconds.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::bench {

// The longest life of a child.
inline constexpr unsigned patience_seconds = 120;

// A load and its server never share a core when the machine has two.
enum class Core : std::uint8_t {
  measured,   // The last allowed core: interrupts mostly go to the first.
  generator,  // The first allowed core.
};

// Pins the calling process, and its later children, to that core.
void pin_to(Core core);

class Process {
 public:
  // Forks. The child runs `body` with standard input and output connected to its handle, and exits
  // with the returned status. It does not run destructors of the parent's objects.
  static Result<Process> start(const std::function<int()>& body);

  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  // Kills the child if it still runs, and waits for its end.
  ~Process();

  pid_t id() const { return id_; }

  // Blocks until the child has written a line, and returns it without the newline. When the child
  // ends first, fails with its last output or its exit status.
  Result<std::string> read_line();
  Result<void> write_line(std::string_view line);

  // Closes the child's standard input, blocks until it ends, and returns the rest of its output.
  // When the exit status is not 0, fails with that text or the status.
  Result<std::string> finish();

 private:
  Process(pid_t id, int input, int output) : id_(id), input_(input), output_(output) {}
  bool read_more();
  Error describe_end();
  int wait();

  pid_t id_;
  int input_;   // The child's standard input.
  int output_;  // The child's standard output.
  std::string unread_;
};

// Replaces the calling process by that program. Returns only on failure.
Error become(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace corolane::bench
