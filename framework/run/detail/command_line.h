// The command line of a program that is a node.
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
  std::vector<std::string> settings;  // What followed each --set.
  std::string replay_path;            // Of a recording; empty: a node serves.
  std::uint64_t lease = 0;            // What revoke_lease is about.
  std::string trace_path;             // Of what is replayed; empty: none is wanted.
  std::string crash_path;             // Of a report of a crash to be printed; empty: of none.
};

// Reads what follows the program's name. When several actions are asked for, the last counts.
// Fails with invalid_argument on what is no option, or an option without its value.
Result<CommandLine> parse_command_line(std::span<const char* const> arguments);

// What --help prints of the program called `program`.
std::string help_text(std::string_view program);

}  // namespace corolane::framework::detail
