// SPDX-License-Identifier: MIT
// The command line of a node program.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::framework::detail {

struct CommandLine {
  enum class Action : std::uint8_t {
    serve,
    print_config,
    check_config,
    config_reference,
    revoke_lease,
    help,
    version
  };

  Action action = Action::serve;
  std::string config_path;            // Empty when none was given.
  std::vector<std::string> settings;  // The value of each --set.
  std::string replay_path;            // A recording to replay; empty: serve.
  std::uint64_t lease = 0;            // The lease that revoke_lease revokes.
  std::string trace_path;             // The trace of a replay; empty: no trace.
  std::string crash_path;             // A crash report to print; empty: none.
};

// Parses the arguments after the program's name. The last of several actions wins. Fails with
// invalid_argument on an unknown option, a stray argument, or an option without its value.
Result<CommandLine> parse_command_line(std::span<const char* const> arguments);

// The text that --help prints for the program called `program`.
std::string help_text(std::string_view program);

}  // namespace corolane::framework::detail
