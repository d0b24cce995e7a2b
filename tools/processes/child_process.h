// A program under test, in a process of its own.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace corolane::test {

// A pipe that nobody reads.
class UnreadPipe {
 public:
  UnreadPipe();
  ~UnreadPipe();
  UnreadPipe(const UnreadPipe&) = delete;
  UnreadPipe& operator=(const UnreadPipe&) = delete;

  // The descriptor to write to.
  int entry() const { return ends_[1]; }
  // From now on every write to it blocks.
  void fill();

 private:
  std::array<int, 2> ends_;
};

class ChildProcess {
 public:
  struct End {
    int exit_status;  // -1 when a signal ended it.
    int signal;       // 0 when it exited.
  };

  // Runs `program` with these arguments, and with `variables` ("NAME=value") added to the
  // environment. What it prints on stderr goes to the descriptor `errors`, if that is given. It
  // dies with the test.
  ChildProcess(const std::string& program, std::vector<std::string> arguments,
               std::vector<std::string> variables = {}, std::optional<int> errors = {});
  // Kills it if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The next line that it prints on stdout, without its end; empty when it has closed stdout.
  // Blocks the thread.
  std::string read_line();
  void send_signal(int signal) const;
  // By SIGSTOP. Blocks the thread until none of its threads runs any more.
  void freeze() const;
  // Blocks the thread until it has ended.
  End wait();

  // What it has printed so far, on stdout beyond the lines that were read; after wait(), all.
  std::string rest_of_output();
  std::string error_output();  // Empty when `errors` was given.

 private:
  pid_t pid_;
  std::FILE* output_;
  std::FILE* errors_;
};

}  // namespace corolane::test
