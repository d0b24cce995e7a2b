// SPDX-License-Identifier: MIT
// Handles the signals that kill a process: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT.
//
// Stops all other threads, writes a report of the unchanged process, logs the path of the report,
// and lets the signal take its default action: the parent sees the signal, and a core dump shows
// the fault itself.
//
// The report is ordered by importance and flushed part by part, so a fault or a timeout loses only
// the parts after it. Writing it allocates no memory and takes no lock. Function names need both: a
// separate process adds them. It runs the same program (`--explain-crash`) with an intact heap.
#pragma once

#include <cstddef>
#include <string>

#include "coroutine/stack/report_text.h"

namespace corolane::framework::detail {

struct CrashHandlerOptions {
  std::string program_name;
  std::string facts;       // Lines for the beginning of the report.
  std::string path_begin;  // Path prefix; time, process and ".crash" follow. Empty: stderr.
  void (*add_work)(coroutine::ReportText& text) = nullptr;  // Names the object or call of the task.
};

// With a longer path the report goes to stderr.
inline constexpr std::size_t crash_path_begin_size_max = 1024;

// Call it before the first scheduler runs. The installation is permanent; a second call has no
// effect. Signals that already have a handler, such as a sanitizer's, keep it.
void install_crash_handler(CrashHandlerOptions options);

}  // namespace corolane::framework::detail
