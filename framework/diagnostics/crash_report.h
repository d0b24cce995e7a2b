// SPDX-License-Identifier: MIT
// The report of a node that dies of a signal: a file that says which task of which object ran,
// where it was, and where all other tasks were.
//
//   auto text = explain_crash("crashes/chess_node-node-1-20261123T011800Z-4711.crash");
//   if (!text) return text.error();
//   std::cout << *text;
//
// The file is in node.crash.folder, "PROGRAM-NODE-20261123T011800Z-PID.crash"; a line of the log
// has its path. The text is for people: README.md lists its parts. It has the names of functions
// when the process had time to find them; explain_crash() adds them later.
#pragma once

#include <cstdint>
#include <string>

#include "coroutine/base/result.h"

namespace corolane::framework {

// A process that dies of a signal writes a report first.
struct CrashConfig {
  std::string folder = ".";        // For the reports; empty: none are written.
  std::uint32_t reports_max = 16;  // The newest ones of this node are kept.
};

// Reports crashes from now on, until the process ends. Call it before the first scheduler runs.
// Removes reports of this node beyond the newest ones. When the folder cannot be written it fails
// with the system's error, and reports go to stderr.
Result<void> report_crashes(const CrashConfig& config, const std::string& node_name,
                            const std::string& program_name);

// Returns the text of a report with the names of functions. Blocks. Fails with not_found, and with
// failed_precondition when the file is not a report or comes from another build of the program.
Result<std::string> explain_crash(const std::string& path);

}  // namespace corolane::framework
