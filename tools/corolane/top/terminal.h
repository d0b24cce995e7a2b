// SPDX-License-Identifier: MIT
// Takes over the terminal of this process: keys arrive one by one, and the whole screen is ours.
//
// The terminal is restored however the process ends: by the destructor, or when a signal kills the
// process. SIGINT, SIGTERM, SIGHUP and a change of size are reported as Input.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "coroutine/base/result.h"
#include "tools/corolane/top/drawing.h"

namespace corolane::tools::cli::top {

class Terminal {
 public:
  struct Input {
    std::string bytes;      // The bytes that were typed.
    bool is_over = false;   // By a signal, or because the terminal is gone.
    bool is_woken = false;  // By wake().
  };

  // At most one may be open. Fails with failed_precondition when standard input or output is not a
  // terminal.
  static Result<std::unique_ptr<Terminal>> open();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Blocks until there is input, or the size of the terminal changes.
  Input wait();
  // Ends wait(). May be called from any thread and from a signal handler.
  void wake();
  Size size() const;
  // Replaces the contents of the screen.
  void show(std::span<const std::string> lines);

 private:
  Terminal() = default;

  int read_end_ = -1;
  int write_end_ = -1;
};

// Whether standard input and output are a terminal.
bool is_terminal();

}  // namespace corolane::tools::cli::top
