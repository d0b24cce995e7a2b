// SPDX-License-Identifier: MIT
// A child process that this process starts and watches.
//
// It has a process group of its own, so that Ctrl-C at a terminal reaches only the supervisor,
// which passes it on. Its standard error comes through a pipe.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "coroutine/base/result.h"

namespace corolane::tools::cli::run {

// How a process ended.
struct Ending {
  int status = 0;  // The exit status, when no signal ended it.
  int signal = 0;

  bool is_failure() const { return signal != 0 || status != 0; }
};

// "exit status 1", "signal 11 (Segmentation fault)".
std::string to_string(const Ending& ending);

class Child {
 public:
  // `words` are the program and its arguments; `environment` has entries "NAME=value" to add to
  // ours. Fails with not_found or permission_denied, and names the program, when it cannot be
  // started.
  static Result<Child> start(std::span<const std::string> words,
                             std::span<const std::string> environment);
  // Kills the process if it still runs.
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  pid_t pid() const { return pid_; }
  // Reading from it never blocks.
  int error_pipe() const { return error_pipe_; }
  void send_signal(int number) const;
  // Returns true when the process has ended. An extra call does no harm. Never blocks.
  bool has_ended(Ending& ending);

 private:
  Child(pid_t pid, int error_pipe) : pid_(pid), error_pipe_(error_pipe) {}

  pid_t pid_;
  int error_pipe_;
};

}  // namespace corolane::tools::cli::run
