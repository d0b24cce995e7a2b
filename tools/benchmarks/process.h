// A child process with which one talks in lines: each child writes to a pipe that is read here, and
// reads from one that is written here. It dies with its handle, with the process that started it,
// and when it has run for longer than anybody waits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::bench {

// No child lives longer.
inline constexpr unsigned patience_seconds = 120;

// A load and what it is put on never share a core, where the machine has two of them.
enum class Core : std::uint8_t {
  measured,   // The last that we may use: interrupts mostly go to the first.
  generator,  // The first.
};

// From now on the calling process, and those that it starts, run on that core alone.
void pin_to(Core core);

class Process {
 public:
  // Forks. The child runs `body` with standard input and output connected to its handle, and ends
  // with the status that it returns, without the destructors of what the parent had built.
  static Result<Process> start(const std::function<int()>& body);

  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  // Kills the child if it runs, and waits for its end.
  ~Process();

  pid_t id() const { return id_; }

  // Blocks until the child has written a line, which is returned without its end. Fails with what
  // the child wrote last, or how it ended, when it ends before.
  Result<std::string> read_line();
  Result<void> write_line(std::string_view line);

  // Closes its standard input, blocks until it ends and returns the rest of what it wrote. Fails
  // with that text, or how it ended, when that is not with status 0.
  Result<std::string> finish();

 private:
  Process(pid_t id, int input, int output) : id_(id), input_(input), output_(output) {}
  bool read_more();
  Error describe_end();
  int wait();

  pid_t id_;
  int input_;   // What the child reads.
  int output_;  // What it writes.
  std::string unread_;
};

// The calling process becomes that program. Returns only to say why it could not.
Error become(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace corolane::bench
