// SPDX-License-Identifier: MIT
#include "framework/run/detail/command_line.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace corolane::framework::detail {
namespace {

struct ActionOption {
  std::string_view name;
  CommandLine::Action action;
};

constexpr auto action_options = std::to_array<ActionOption>({
    {"--print-config", CommandLine::Action::print_config},
    {"--check-config", CommandLine::Action::check_config},
    {"--config-reference", CommandLine::Action::config_reference},
    {"--help", CommandLine::Action::help},
    {"-h", CommandLine::Action::help},
    {"--version", CommandLine::Action::version},
});

std::string needs_file(std::string_view option) {
  return std::string(option) + " needs the name of a file";
}

Error usage_error(std::string message) { return Error(Code::invalid_argument, std::move(message)); }

}  // namespace

Result<CommandLine> parse_command_line(std::span<const char* const> arguments) {
  CommandLine command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") {
      if (i + 1 == arguments.size()) break;
      return usage_error("stray argument \"" + std::string(arguments[i + 1]) + "\"");
    }
    const auto action = std::ranges::find(action_options, argument, &ActionOption::name);
    if (action != action_options.end()) {
      command.action = action->action;
      continue;
    }
    const auto equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    if (name != "--config" && name != "--set" && name != "--replay" && name != "--trace" &&
        name != "--explain-crash" && name != "--revoke-lease") {
      return usage_error((argument.starts_with('-') ? "unknown option \"" : "stray argument \"") +
                         std::string(argument) + "\"");
    }
    if (equals == std::string_view::npos && i + 1 == arguments.size()) {
      return usage_error(name == "--set" ? "--set needs KEY=VALUE, such as node.name=lobby-1"
                                         : needs_file(name));
    }
    const std::string value(equals == std::string_view::npos ? std::string_view(arguments[++i])
                                                             : argument.substr(equals + 1));
    if (name != "--set" && value.empty()) return usage_error(needs_file(name));
    if (name == "--revoke-lease") {
      const auto read = std::from_chars(value.data(), value.data() + value.size(), command.lease);
      if (read.ec != std::errc() || read.ptr != value.data() + value.size() || command.lease == 0) {
        return usage_error("--revoke-lease needs the number of a lease, not \"" + value + "\"");
      }
      command.action = CommandLine::Action::revoke_lease;
    } else if (name == "--set") {
      command.settings.push_back(value);
    } else if (name == "--replay") {
      command.replay_path = value;
    } else if (name == "--trace") {
      command.trace_path = value;
    } else if (name == "--explain-crash") {
      command.crash_path = value;
    } else {
      command.config_path = value;
    }
  }
  if (!command.trace_path.empty() && command.replay_path.empty()) {
    return usage_error("--trace is for --replay");
  }
  if (!command.replay_path.empty() && !(command.config_path.empty() && command.settings.empty())) {
    return usage_error("--replay takes the configuration from the recording");
  }
  return command;
}

std::string help_text(std::string_view program) {
  const std::string name(program);
  return "Usage: " + name + R"( [OPTION]...

Runs a node with the )" +
         name + R"( service until SIGINT or SIGTERM arrives. Then it refuses new
calls, lets running calls finish for at most node.stop_time_max, and exits
within a second after that, even if a call does not end. A second signal ends it
at once.

  --config FILE     read the configuration from FILE, in YAML; without it the
                    defaults apply
  --set KEY=VALUE   set KEY to VALUE, overriding the file; may be repeated
  --replay FILE     replay the recording of a node (node.record.file), and say
                    whether it behaved the same
  --trace FILE      with --replay, write the node's requests and inputs to FILE
  --explain-crash FILE
                    print a crash report of this program (node.crash) with
                    function names
  --check-config    check the configuration, and exit
  --print-config    print every key with its value, meaning and origin, and exit;
                    secrets are not shown
  --config-reference
                    print all keys with types, defaults and limits, in Markdown,
                    and exit
  --revoke-lease N  revoke the directory lease N of a dead process, and exit;
                    for supervisors, which learn N by setting
                    COROLANE_LEASE_FILE=FILE in the environment of the node
  -h, --help        print this, and exit
  --version         print the version, and exit

Environment variables override the file, and --set overrides both. A variable is
the key in capitals with two underscores for a dot:
COROLANE_NODE__NAME=a means --set node.name=a.

SIGHUP, for a node with a FILE, TLS or login keys, and POST /config/reload on
the admin address read all of these again: live keys change all together or not
at all, the others at the next start.

Exit status: 0 stopped by a signal, 1 the node could not serve or a replay
differed, 2 wrong usage or configuration, 130 ended by a second signal.
)";
}

}  // namespace corolane::framework::detail
