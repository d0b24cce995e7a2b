// SPDX-License-Identifier: MIT
// Keeps a process running: restarts it when it fails, and gives up when that does not help.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "tools/corolane/command.h"
#include "tools/corolane/run/back_off.h"
#include "tools/corolane/run/child.h"

namespace corolane::tools::cli::run {

struct Supervision {
  std::vector<std::string> words;             // The program and its arguments.
  std::vector<std::string> environment = {};  // Added to ours: "NAME=value".
  BackOff::Options back_off = {};
  // The time from SIGTERM to SIGKILL; longer than a node ever needs.
  Duration stop_time_max = std::chrono::minutes(1);
  // Called when waitpid() has reported the death of a failed process, before the next start.
  std::function<void()> on_death = [] {};
  // Reports an event, without a line break.
  std::function<void(const std::string& line)> tell;
};

// Runs the process until it exits with success, is stopped by a SIGTERM or SIGINT to us, or fails
// for good; the failure then says how, with its last lines. Passes SIGHUP on. Blocks these signals
// in this thread, which must be the only one.
Outcome supervise(const Supervision& supervision);

}  // namespace corolane::tools::cli::run
