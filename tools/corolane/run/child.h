// A process that this one has started, and watches.
//
// It has a process group of its own: what is typed at a terminal ends the supervisor, which then
// tells it. Its standard error comes by a pipe.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "coroutine/base/result.h"

namespace corolane::tools::cli::run {

// How a process ended.
struct Ending {
  int status = 0;  // Of exit(), when no signal ended it.
  int signal = 0;

  bool is_failure() const { return signal != 0 || status != 0; }
};

// "exit status 1", "signal 11 (Segmentation fault)".
std::string to_string(const Ending& ending);

class Child {
 public:
  // `words` are the program and its arguments, `environment` is "NAME=value" besides our own. Fails
  // with not_found or permission_denied for a program that cannot be started, which is named.
  static Result<Child> start(std::span<const std::string> words,
                             std::span<const std::string> environment);
  // Kills it if it is still there.
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  pid_t pid() const { return pid_; }
  // Never blocks on reading.
  int error_pipe() const { return error_pipe_; }
  void send_signal(int number) const;
  // True when it has ended, which is asked for once more than needed at no cost. Never blocks.
  bool has_ended(Ending& ending);

 private:
  Child(pid_t pid, int error_pipe) : pid_(pid), error_pipe_(error_pipe) {}

  pid_t pid_;
  int error_pipe_;
};

}  // namespace corolane::tools::cli::run
