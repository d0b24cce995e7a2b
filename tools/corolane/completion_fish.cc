// SPDX-License-Identifier: MIT
// The completion of fish.
#include <string>
#include <string_view>

#include "tools/corolane/commands.h"
#include "tools/corolane/completion_scripts.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view beginning =
    R"fish(# Completes the words of corolane; methods and object types come from the node.
# Whether the word to complete is a later one of a command: its own words, without options.
function __corolane_at
    set -l words (commandline -opc | string match -v -- '-*')
    set -l place $argv[1]
    # HOST:PORT may be missing where the environment names the node.
    if set -q COROLANE_ADMIN; and test "$place" = 3; and test (count $words) = 2
        set place 2
    end
    test (count $words) = $place; and contains -- $words[2] $argv[2..]
end
function __corolane_address
    set -l words (commandline -opc)
    if set -q words[3]
        echo $words[3]
    else
        echo $COROLANE_ADMIN
    end
end
# A short name, and the full one as its description.
function __corolane_methods
    set -l words (commandline -opc)
    set -l names ($words[1] call (__corolane_address) --names 2>/dev/null)
    printf '%s\n' $names
    printf '%s\n' (string replace -r '.*\t' '' -- $names)
end
function __corolane_objects
    set -l words (commandline -opc)
    $words[1] objects (__corolane_address) --json 2>/dev/null |
        string replace -rf '^ *"type": "(.*)".*' '$1'
end
complete -c corolane -f
complete -c corolane -n 'test (count (commandline -opc)) = 1' -a help -d 'describes a command'
complete -c corolane -n 'test (count (commandline -opc)) = 1' -l help
complete -c corolane -n 'test (count (commandline -opc)) = 1' -l version
)fish";

std::string option_line(const Command& command, const OptionRule& rule) {
  std::string line = "complete -c corolane -n '__fish_seen_subcommand_from " +
                     std::string(command.name) + "' -l " + std::string(rule.name.substr(2));
  if (!rule.choices.empty()) return line + " -x -a '" + std::string(rule.choices) + "'\n";
  if (rule.has_value) return line + (is_file_option(rule.name) ? " -r -F\n" : " -x\n");
  return line + "\n";
}

std::string word_line(const Command& command) {
  const auto line = [&](const char* place, const std::string& offer) {
    return "complete -c corolane -n '__corolane_at " + std::string(place) + " " +
           std::string(command.name) + "' " + offer + "\n";
  };
  switch (command.word) {
    case WordKind::free:
      return "";
    case WordKind::file:
      return line("2", "-F");
    case WordKind::choice:
      return line(command.asks_pages ? "3" : "2", "-a '" + std::string(command.word_choices) + "'");
    case WordKind::method:
      return line("3", "-a '(__corolane_methods)'");
    case WordKind::object:
      return line("3", "-a '(__corolane_objects)'");
  }
  return "";
}

}  // namespace

std::string fish_script() {
  std::string script(beginning);
  std::string names;
  for (const Command* command : commands()) {
    const std::string name(command->name);
    names += (names.empty() ? "" : " ") + name;
    script += "complete -c corolane -n 'test (count (commandline -opc)) = 1' -a " + name + " -d '" +
              std::string(command->summary) + "'\n";
    for (const OptionRule& rule : options_of(*command)) script += option_line(*command, rule);
    script += word_line(*command);
  }
  return script + "complete -c corolane -n '__corolane_at 2 help' -a '" + names + "'\n";
}

}  // namespace corolane::tools::cli
