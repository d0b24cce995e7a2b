#include "tools/cli/completion.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view help =
    R"text(Usage: corolane completion bash

Prints a script for bash that completes the commands of corolane, their options
and, asking the node, the names of its methods. In ~/.bashrc:

  eval "$(corolane completion bash)"

Exit status: 0 printed, 2 wrong usage.
)text";

// bash cuts words at colons, so addresses come in pieces: the line is cut again, at blanks alone.
// Methods are offered by their shortest names, and by their full ones to who has begun such.
constexpr std::string_view bash_script =
    R"bash(# Completes the words of corolane; methods are those of the node.
_corolane() {
  local line="${COMP_LINE:0:COMP_POINT}"
  local words
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  local count=$((${#words[@]} - 1))
  local word="${words[count]}"
  local choices=""
  if [[ "$word" == -* ]]; then
    case "${words[1]}" in
      call) choices="--object --timeout --describe --names --tls --certificate --key --help" ;;
      stats) choices="--json --help" ;;
      new | completion) choices="--help" ;;
      *) choices="--help --version" ;;
    esac
  elif ((count == 1)); then
    choices="new call stats page completion help"
  elif ((count == 2)) && [[ "${words[1]}" == help ]]; then
    choices="new call stats page completion"
  elif ((count == 2)) && [[ "${words[1]}" == completion ]]; then
    choices="bash"
  elif ((count == 3)) && [[ "${words[1]}" == call ]]; then
    local names="$("${words[0]}" call "${words[2]}" --names 2> /dev/null)"
    choices="$(cut -f 1 <<< "$names")"
    [[ -n "$(compgen -W "$choices" -- "$word")" ]] || choices="$(cut -f 2 <<< "$names")"
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
complete -F _corolane corolane
)bash";

Outcome run(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.empty()) return wrong_usage("completion", "needs the name of a shell: bash");
  if (words.size() > 1) return wrong_usage("completion", "stray argument \"" + words[1] + "\"");
  if (words[0] != "bash") {
    return wrong_usage("completion", "\"" + words[0] + "\" is no shell that it knows; only bash");
  }
  return std::string(bash_script);
}

}  // namespace

constexpr Command completion_command = {
    .name = "completion",
    .summary = "prints what lets bash complete its words",
    .help = help,
    .options = {},
    .run = run,
};

}  // namespace corolane::tools::cli
