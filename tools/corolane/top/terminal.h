// The terminal of this process, taken over: keys come one by one, and the whole screen is ours.
//
// What was there is back when it ends, however the process ends: by the destructor, and when a
// signal kills it. SIGINT, SIGTERM, SIGHUP and a change of size are told as Input.
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
    std::string bytes;      // What was typed.
    bool is_over = false;   // A signal, or the terminal is gone.
    bool is_woken = false;  // By wake().
  };

  // One at a time. Fails with failed_precondition when standard input or output is no terminal.
  static Result<std::unique_ptr<Terminal>> open();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Blocks until there is something, or the terminal has another size.
  Input wait();
  // Ends wait(). From any thread, and from a signal handler.
  void wake();
  Size size() const;
  // Replaces what is on the screen.
  void show(std::span<const std::string> lines);

 private:
  Terminal() = default;

  int read_end_ = -1;
  int write_end_ = -1;
};

// Whether `standard output` and input are one.
bool is_terminal();

}  // namespace corolane::tools::cli::top
