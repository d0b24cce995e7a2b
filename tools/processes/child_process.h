// SPDX-License-Identifier: MIT
// A program under test, in a process of its own.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace corolane::test {

// A pipe that has no reader.
class UnreadPipe {
 public:
  UnreadPipe();
  ~UnreadPipe();
  UnreadPipe(const UnreadPipe&) = delete;
  UnreadPipe& operator=(const UnreadPipe&) = delete;

  // The descriptor to write to.
  int entry() const { return ends_[1]; }
  // After this call, every write to it blocks.
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
  // environment. Its stderr goes to the descriptor `errors`, if given. The process dies with the
  // test.
  ChildProcess(const std::string& program, std::vector<std::string> arguments,
               std::vector<std::string> variables = {}, std::optional<int> errors = {});
  // Kills the process if it is still running.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The next line of its stdout, without the line end; empty once stdout is closed. Blocks the
  // thread.
  std::string read_line();
  void send_signal(int signal) const;
  // Sends SIGSTOP. Blocks the thread until the process is stopped.
  void freeze() const;
  // Blocks the thread until it has ended.
  End wait();

  // The output so far, on stdout beyond the lines that were read; after wait(), the whole output.
  std::string rest_of_output();
  std::string error_output();  // Empty when `errors` was given.

 private:
  pid_t pid_;
  std::FILE* output_;
  std::FILE* errors_;
};

}  // namespace corolane::test
