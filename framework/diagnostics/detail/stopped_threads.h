// SPDX-License-Identifier: MIT
// The other threads of a crashed process: they stop where they are, and each reports its own state
// when asked, since only the thread itself knows its tasks.
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
  // Stops them by SIGABRT, whose handler calls wait_for_turn(). Constructed by the crashed thread.
  StoppedThreads();

  // Asks one thread after the other and waits for its report, each for a few seconds at most.
  void let_each_tell(coroutine::ReportText& text);

  // For the stopped threads: wait_for_turn() returns when the thread is asked; it calls end_turn()
  // after its report.
  static void wait_for_turn();
  static void end_turn();

 private:
  static constexpr std::size_t count_max = 1024;

  bool let_tell(pid_t id);

  std::array<pid_t, count_max> ids_;
  std::size_t count_ = 0;
};

}  // namespace corolane::framework::detail
