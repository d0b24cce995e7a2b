// SPDX-License-Identifier: MIT
#include "tools/corolane/command_line.h"

#include <algorithm>
#include <string>
#include <vector>

#include "coroutine/base/text.h"
#include "tools/corolane/commands.h"
#include "tools/corolane/version.h"

namespace corolane::tools::cli {
namespace {

std::string overview() {
  std::string text =
      "Usage: corolane COMMAND ...\n"
      "\n"
      "Creates a project, and inspects and controls a running node.\n"
      "\n";
  for (const Command* command : commands()) {
    text.append("  ").append(command->name).append(13 - command->name.size(), ' ');
    text.append(command->summary).append("\n");
  }
  text +=
      "  help         describes a command: corolane help call\n"
      "\n"
      "  -h, --help   print this text\n"
      "  --version    print the version\n";
  return text;
}

// Names the command that was probably meant, and lists all.
Failure unknown_command(std::string_view name) {
  std::vector<std::string> names;
  for (const Command* command : commands()) names.emplace_back(command->name);
  std::string message = "corolane: " + quote(name) + " is not a command";
  if (const auto near = nearest(name, names)) message += "; did you mean " + names[*near] + "?";
  message += "\nCommands: ";
  for (const std::string& known : names) message += known + ", ";
  return {Failure::Kind::misused, message + "help"};
}

std::expected<const Command*, Failure> find_command(std::string_view name) {
  const auto found =
      std::ranges::find(commands(), name, [](const Command* command) { return command->name; });
  if (found == commands().end()) return std::unexpected(unknown_command(name));
  return *found;
}

Outcome help(std::span<const char* const> words) {
  if (words.empty()) return overview();
  const auto command = find_command(words.front());
  if (!command) return std::unexpected(command.error());
  return help_of(**command);
}

Outcome run(const Command& command, std::span<const char* const> words) {
  const auto arguments = parse_arguments(words, options_of(command));
  if (arguments && arguments->has("--help")) return help_of(command);
  return arguments ? command.run(*arguments)
                   : wrong_usage(command.name, arguments.error().message());
}

}  // namespace

Outcome run_command_line(std::span<const char* const> words) {
  if (words.empty()) return misused(overview());
  const std::string_view first = words.front();
  const auto rest = words.subspan(1);
  if (first == "--help" || first == "-h" || first == "help") return help(rest);
  if (first == "--version") return version_text();
  const auto command = find_command(first);
  if (!command) return std::unexpected(command.error());
  return run(**command, rest);
}

}  // namespace corolane::tools::cli
