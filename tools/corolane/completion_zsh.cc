// SPDX-License-Identifier: MIT
// The completion of zsh.
#include <string>
#include <string_view>

#include "tools/corolane/commands.h"
#include "tools/corolane/completion_scripts.h"

namespace corolane::tools::cli {
namespace {

// The script is sourced, or is the body of the function _corolane in a file of that name.
constexpr std::string_view beginning =
    R"zsh(#compdef corolane
# Completes the words of corolane; methods and object types come from the node.
_corolane() {
  local command=$words[2] previous=$words[CURRENT-1] word=$words[CURRENT]
  # HOST:PORT may be missing where the environment names the node.
  local -i place=$CURRENT
  local address=$words[3]
  if [[ -n $COROLANE_ADMIN && $CURRENT == 3 ]]; then
    place=4
    address=$COROLANE_ADMIN
  fi
  local -a choices commands
)zsh";

constexpr std::string_view end =
    R"zsh(  compadd -a choices
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _corolane "$@"
else
  compdef _corolane corolane
fi
)zsh";

// Methods are offered by their shortest names, or by their full names when only those fit the word.
constexpr std::string_view methods =
    R"zsh(        local -a names=(${(f)"$($words[1] call $address --names 2>/dev/null)"})
        choices=(${names%%$'\t'*})
        [[ -n ${(M)choices:#$word*} ]] || choices=(${names#*$'\t'})
)zsh";

constexpr std::string_view objects =
    R"zsh(        choices=(${(f)"$($words[1] objects $address --json 2>/dev/null |
          sed -n 's/^ *"type": "\(.*\)".*/\1/p')"})
)zsh";

// A line of a `case`.
std::string choice_line(std::string_view pattern, std::string_view choices) {
  return "      " + std::string(pattern) + ") choices=(" + std::string(choices) + ") ;;\n";
}

std::string commands_with_words() {
  std::string lines = "  commands=(\n";
  for (const Command* command : commands()) {
    lines.append("    '").append(command->name).append(":").append(command->summary).append("'\n");
  }
  return lines + "    'help:describes a command'\n  )\n";
}

std::string values_of_options() {
  std::string lines = "  case \"$command $previous\" in\n";
  for (const Command* command : commands()) {
    for (const OptionRule& rule : options_of(*command)) {
      const std::string pattern =
          "\"" + std::string(command->name) + " " + std::string(rule.name) + "\"";
      if (!rule.choices.empty()) {
        lines += choice_line(pattern, rule.choices);
      } else if (rule.has_value) {
        const char* const files = is_file_option(rule.name) ? "_files; " : "";
        lines += "      " + pattern + ") " + files + "return ;;\n";
      }
    }
  }
  return lines + "  esac\n";
}

std::string options_of_commands() {
  std::string lines;
  for (const Command* command : commands()) {
    std::string names;
    for (const OptionRule& rule : options_of(*command)) {
      names.append(names.empty() ? "" : " ").append(rule.name);
    }
    lines += choice_line(command->name, names);
  }
  return lines + choice_line("*", "--help --version");
}

// The words behind the command and, where it has one, HOST:PORT.
std::string words_of_commands() {
  std::string lines;
  for (const Command* command : commands()) {
    const std::string name(command->name);
    const char* const place = command->word == WordKind::file || !command->asks_pages ? "3" : "4";
    switch (command->word) {
      case WordKind::free:
        break;
      case WordKind::file:
        lines += "      \"" + name + " 3\") _files; return ;;\n";
        break;
      case WordKind::choice:
        lines += choice_line("\"" + name + " " + place + "\"", command->word_choices);
        break;
      case WordKind::method:
        lines += "      \"" + name + " 4\")\n" + std::string(methods) + "        ;;\n";
        break;
      case WordKind::object:
        lines += "      \"" + name + " 4\")\n" + std::string(objects) + "        ;;\n";
        break;
    }
  }
  return lines;
}

}  // namespace

std::string zsh_script() {
  std::string script(beginning);
  script += commands_with_words() + values_of_options();
  script +=
      "  if (($#choices)); then\n    :\n"
      "  elif [[ $word == -* ]]; then\n    case $command in\n" +
      options_of_commands() +
      "    esac\n"
      "  elif ((CURRENT == 2)) || [[ $command == help ]]; then\n"
      "    _describe command commands\n    return\n"
      "  else\n    case \"$command $place\" in\n" +
      words_of_commands() + "    esac\n  fi\n";
  return script.append(end);
}

}  // namespace corolane::tools::cli
