#include "tools/corolane/completion.h"

#include <string>

#include "tools/corolane/commands.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view help =
    R"text(Usage: corolane completion bash

Prints a bash script that completes the commands of corolane, their options
and, by asking the node, its methods and object types. Put this in ~/.bashrc:

  eval "$(corolane completion bash)"

Exit status: 0 success, 2 wrong usage.
)text";

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

// The options whose value is a file.
constexpr std::string_view file_options =
    "--tls | --certificate | --key | --token | --output | --program";

std::string names_of_commands() {
  std::string names;
  for (const Command* command : commands()) {
    names.append(names.empty() ? "" : " ").append(command->name);
  }
  return names;
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

std::string commands_with(WordKind kind) {
  std::string names;
  for (const Command* command : commands()) {
    if (command->word != kind) continue;
    names.append(names.empty() ? "" : " | ").append(command->name);
  }
  return names;
}

std::string words_of_commands() {
  std::string lines;
  for (const Command* command : commands()) {
    if (command->word != WordKind::choice) continue;
    lines.append("      ").append(command->name).append(") choices=\"");
    lines.append(command->word_choices).append("\" ;;\n");
  }
  lines.append("      ").append(commands_with(WordKind::method)).append(")\n").append(methods);
  lines.append("        ;;\n      ").append(commands_with(WordKind::object)).append(")\n");
  return lines.append(objects).append("        ;;\n");
}

std::string bash_script() {
  std::string script(beginning);
  script += "  case \"$command ${words[count - 1]}\" in\n" + values_of_options() + "  esac\n";
  script += "  case \"${words[count - 1]}\" in\n    ";
  script.append(file_options);
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
      names_of_commands() +
      "\"\n"
      "  elif ((count == 2)) && [[ \"$command\" == completion ]]; then\n    choices=\"bash\"\n"
      "  elif ((place == 3)); then\n    case \"$command\" in\n" +
      words_of_commands() + "    esac\n  fi\n";
  return script.append(end);
}

Outcome run(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.empty()) return wrong_usage("completion", "needs the name of a shell: bash");
  if (words.size() > 1) return wrong_usage("completion", "stray argument \"" + words[1] + "\"");
  if (words[0] != "bash") {
    return wrong_usage("completion", "\"" + words[0] + "\" is not a supported shell; only bash is");
  }
  return bash_script();
}

}  // namespace

constexpr Command completion_command = {
    .name = "completion",
    .summary = "prints the completion script for bash",
    .help = help,
    .options = {},
    .run = run,
};

}  // namespace corolane::tools::cli
