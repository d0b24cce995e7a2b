// SPDX-License-Identifier: MIT
// The completion of bash.
#include <set>
#include <string>
#include <string_view>

#include "tools/corolane/commands.h"
#include "tools/corolane/completion_scripts.h"

namespace corolane::tools::cli {
namespace {

// bash splits words at colons, so addresses come in pieces. The script splits the line again, at
// blanks only.
constexpr std::string_view beginning =
    R"bash(# Completes the words of corolane; methods and object types come from the node.
_corolane() {
  local line="${COMP_LINE:0:COMP_POINT}"
  local words
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  local count=$((${#words[@]} - 1))
  local word="${words[count]}"
  local command="${words[1]}"
  # HOST:PORT may be missing where the environment names the node.
  local place=$count
  local address="${words[2]}"
  if [[ -n "$COROLANE_ADMIN" && "$count" == 2 ]]; then
    place=3
    address="$COROLANE_ADMIN"
  fi
  local choices=""
)bash";

// Methods are offered by their shortest names, or by their full names when only those fit the word.
constexpr std::string_view end =
    R"bash(  COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
complete -F _corolane corolane
)bash";

constexpr std::string_view methods =
    R"bash(        local names="$("${words[0]}" call "$address" --names 2> /dev/null)"
        choices="$(cut -f 1 <<< "$names")"
        [[ -n "$(compgen -W "$choices" -- "$word")" ]] || choices="$(cut -f 2 <<< "$names")"
)bash";

constexpr std::string_view objects =
    R"bash(        choices="$("${words[0]}" objects "$address" --json 2> /dev/null |
          sed -n 's/^ *"type": "\(.*\)".*/\1/p')"
)bash";

std::string names_of_commands() {
  std::string names;
  for (const Command* command : commands()) {
    names.append(names.empty() ? "" : " ").append(command->name);
  }
  return names;
}

// The options whose value is a file, as a pattern of a `case`.
std::string file_options() {
  std::set<std::string_view> names;
  for (const Command* command : commands()) {
    for (const OptionRule& rule : options_of(*command)) {
      if (is_file_option(rule.name)) names.insert(rule.name);
    }
  }
  std::string pattern;
  for (const std::string_view name : names) {
    pattern.append(pattern.empty() ? "" : " | ").append(name);
  }
  return pattern;
}

// The choices for the values of options, as lines of a `case`.
std::string values_of_options() {
  std::string lines;
  for (const Command* command : commands()) {
    for (const OptionRule& rule : options_of(*command)) {
      if (rule.choices.empty()) continue;
      lines.append("    \"").append(command->name).append(" ").append(rule.name);
      lines.append("\") choices=\"").append(rule.choices).append("\" ;;\n");
    }
  }
  return lines;
}

std::string options_of_commands() {
  std::string lines;
  for (const Command* command : commands()) {
    std::string names;
    for (const OptionRule& rule : options_of(*command)) {
      names.append(names.empty() ? "" : " ").append(rule.name);
    }
    lines.append("      ").append(command->name).append(") choices=\"").append(names);
    lines.append("\" ;;\n");
  }
  return lines;
}

std::string commands_with(WordKind kind, std::string_view separator = " | ") {
  std::string names;
  for (const Command* command : commands()) {
    if (command->word != kind) continue;
    names.append(names.empty() ? "" : separator).append(command->name);
  }
  return names;
}

std::string words_of_commands() {
  std::string lines;
  for (const Command* command : commands()) {
    if (command->word != WordKind::choice || !command->asks_pages) continue;
    lines.append("      ").append(command->name).append(") choices=\"");
    lines.append(command->word_choices).append("\" ;;\n");
  }
  lines.append("      ").append(commands_with(WordKind::method)).append(")\n").append(methods);
  lines.append("        ;;\n      ").append(commands_with(WordKind::object)).append(")\n");
  return lines.append(objects).append("        ;;\n");
}

// The first words of commands without HOST:PORT.
std::string first_words() {
  std::string lines = "  elif ((count == 2)) && [[ \"$command\" == @(" +
                      commands_with(WordKind::file, "|") +
                      ") ]]; then\n    COMPREPLY=($(compgen -f -- \"$word\"))\n    return\n";
  for (const Command* command : commands()) {
    if (command->word != WordKind::choice || command->asks_pages) continue;
    lines.append("  elif ((count == 2)) && [[ \"$command\" == ").append(command->name);
    lines.append(" ]]; then\n    choices=\"").append(command->word_choices).append("\"\n");
  }
  return lines;
}

}  // namespace

std::string bash_script() {
  std::string script(beginning);
  script += "  case \"$command ${words[count - 1]}\" in\n" + values_of_options() + "  esac\n";
  script += "  case \"${words[count - 1]}\" in\n    ";
  script += file_options();
  script +=
      ")\n      COMPREPLY=($(compgen -f -- \"$word\"))\n      return\n      ;;\n  esac\n"
      "  if [[ -n \"$choices\" ]]; then\n    :\n"
      "  elif [[ \"$word\" == -* ]]; then\n    case \"$command\" in\n" +
      options_of_commands() +
      "      *) choices=\"--help --version\" ;;\n    esac\n"
      "  elif ((count == 1)); then\n    choices=\"" +
      names_of_commands() +
      " help\"\n"
      "  elif ((count == 2)) && [[ \"$command\" == help ]]; then\n    choices=\"" +
      names_of_commands() + "\"\n" + first_words() +
      "  elif ((place == 3)); then\n    case \"$command\" in\n" + words_of_commands() +
      "    esac\n  fi\n";
  return script.append(end);
}

}  // namespace corolane::tools::cli
