// The other threads of a process that has crashed: they stop where they are, and each tells of
// itself when it is asked, since a thread alone knows what it runs.
//
// Async-signal-safe.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>

#include "coroutine/stack/report_text.h"

namespace corolane::framework::detail {

class StoppedThreads {
 public:
  // Stops them, by SIGABRT, whose handler is to call wait_for_turn(). By the thread that crashed.
  StoppedThreads();

  // Asks one after the other, and waits for it: all of them together a few seconds.
  void let_each_tell(coroutine::ReportText& text);

  // For the others: returns when this one is asked, and then says when it has told.
  static void wait_for_turn();
  static void end_turn();

 private:
  static constexpr std::size_t count_max = 1024;

  bool let_tell(pid_t id);

  std::array<pid_t, count_max> ids_;
  std::size_t count_ = 0;
};

}  // namespace corolane::framework::detail
