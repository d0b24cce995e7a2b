// Handles the signals of which a process dies: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT.
//
// Stops all other threads, writes a report while everything is as it was, says in the log where
// it is, and lets the signal do what it does by default: the parent sees it, and the core, if there
// is one, shows the fault itself.
//
// What is told comes in the order of what matters and goes out as it is known, so that a fault, or
// a time that is up, costs the rest and nothing before it. Until then no memory is allocated and no
// lock taken. Names of functions need both: a process of its own adds them, which is the same
// program once more (`--explain-crash`), with a heap that is not broken.
#pragma once

#include <cstddef>
#include <string>

#include "coroutine/stack/report_text.h"

namespace corolane::framework::detail {

struct CrashHandlerOptions {
  std::string program_name;
  std::string facts;       // Lines that the report has near its beginning.
  std::string path_begin;  // Of the report; time, process and ".crash" follow. Empty: on stderr.
  void (*add_work)(coroutine::ReportText& text) = nullptr;  // What the running task works for.
};

// Above this a path is too long: then the report is on stderr.
inline constexpr std::size_t crash_path_begin_size_max = 1024;

// For good, and before the first scheduler runs; a second time changes nothing. A signal that
// somebody else handles stays his, such as a sanitizer's.
void install_crash_handler(CrashHandlerOptions options);

}  // namespace corolane::framework::detail
