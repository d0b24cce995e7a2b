#include "tools/cli/command_line.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "framework/version.h"
#include "tools/cli/call.h"
#include "tools/cli/completion.h"
#include "tools/cli/new_project.h"
#include "tools/cli/page.h"
#include "tools/cli/stats.h"

namespace corolane::tools::cli {
namespace {

constexpr std::array<const Command*, 5> commands = {&new_command, &call_command, &stats_command,
                                                    &page_command, &completion_command};

std::string overview() {
  std::string text =
      "Usage: corolane COMMAND ...\n"
      "\n"
      "Begins a project, and talks to a node that runs.\n"
      "\n";
  for (const Command* command : commands) {
    text.append("  ").append(command->name).append(12 - command->name.size(), ' ');
    text.append(command->summary).append("\n");
  }
  text +=
      "  help        says more about a command: corolane help call\n"
      "\n"
      "  --help      print this, and exit\n"
      "  --version   print the version, and exit\n";
  return text;
}

Failure unknown_command(std::string_view name) {
  std::string message = "corolane: \"" + std::string(name) + "\" is no command; there are ";
  for (const Command* command : commands) message.append(command->name).append(", ");
  return {Failure::Kind::misused, message + "help"};
}

std::expected<const Command*, Failure> find_command(std::string_view name) {
  const auto found =
      std::ranges::find(commands, name, [](const Command* command) { return command->name; });
  if (found == commands.end()) return std::unexpected(unknown_command(name));
  return *found;
}

Outcome help(std::span<const char* const> words) {
  if (words.empty()) return overview();
  const auto command = find_command(words.front());
  if (!command) return std::unexpected(command.error());
  return std::string((*command)->help);
}

Outcome run(const Command& command, std::span<const char* const> words) {
  std::vector<OptionRule> rules(command.options.begin(), command.options.end());
  rules.push_back({.name = "--help"});
  const auto arguments = parse_arguments(words, rules);
  if (arguments && arguments->has("--help")) return std::string(command.help);
  return arguments ? command.run(*arguments)
                   : wrong_usage(command.name, arguments.error().message());
}

}  // namespace

Outcome run_command_line(std::span<const char* const> words) {
  if (words.empty()) return misused(overview());
  const std::string_view first = words.front();
  const auto rest = words.subspan(1);
  if (first == "--help" || first == "-h" || first == "help") return help(rest);
  if (first == "--version") return "corolane " + std::string(framework::version()) + "\n";
  const auto command = find_command(first);
  if (!command) return std::unexpected(command.error());
  return run(**command, rest);
}

}  // namespace corolane::tools::cli
