// Keeps a process running: starts it again when it fails, and gives up when that does not help.
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
  std::vector<std::string> environment = {};  // Besides our own: "NAME=value".
  BackOff::Options back_off = {};
  // So long after SIGTERM it is killed: longer than a node ever takes.
  Duration stop_time_max = std::chrono::minutes(1);
  // Called when waitpid() has said that a process is dead, if it has failed, and before the next
  // one is started.
  std::function<void()> on_death = [] {};
  // What has happened, without a line's end.
  std::function<void(const std::string& line)> tell;
};

// Until it has ended well, was stopped by SIGTERM or SIGINT of ours, or failed for good, which says
// how, with its last lines. SIGHUP is passed on. Blocks these signals in this thread; the only
// thread there is.
Outcome supervise(const Supervision& supervision);

}  // namespace corolane::tools::cli::run
