// SPDX-License-Identifier: MIT
#include "tools/corolane/completion.h"

#include <algorithm>
#include <array>
#include <string>

#include "tools/corolane/completion_scripts.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view completion_help =
    R"text(Usage: corolane completion bash|fish|zsh

Prints a script for the shell that completes the commands of corolane, their
options and, by asking the node, its methods and object types. An installed
corolane brings the scripts along. Otherwise put this in ~/.bashrc

  eval "$(corolane completion bash)"

in ~/.config/fish/config.fish

  corolane completion fish | source

or in ~/.zshrc, behind compinit

  eval "$(corolane completion zsh)"

Exit status: 0 success, 2 wrong usage.
)text";

struct Shell {
  std::string_view name;
  std::string (*script)();
};

constexpr std::array shells = {Shell{"bash", bash_script}, Shell{"fish", fish_script},
                               Shell{"zsh", zsh_script}};

Outcome run_completion(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.empty())
    return wrong_usage("completion", "needs the name of a shell: bash, fish or zsh");
  if (words.size() > 1) return wrong_usage("completion", "stray argument \"" + words[1] + "\"");
  const auto shell = std::ranges::find(shells, words[0], &Shell::name);
  if (shell == shells.end()) {
    return wrong_usage("completion",
                       "\"" + words[0] + "\" is not a supported shell; bash, fish and zsh are");
  }
  return shell->script();
}

}  // namespace

bool is_file_option(std::string_view option) {
  constexpr std::array names = {std::string_view("--tls"),    std::string_view("--certificate"),
                                std::string_view("--key"),    std::string_view("--token"),
                                std::string_view("--output"), std::string_view("--program"),
                                std::string_view("--trace"),  std::string_view("--apply")};
  return std::ranges::find(names, option) != names.end();
}

constexpr Command completion_command = {
    .name = "completion",
    .summary = "prints the completion script for bash, fish or zsh",
    .help = completion_help,
    .options = {},
    .run = run_completion,
    .word = WordKind::choice,
    .word_choices = "bash fish zsh",
};

}  // namespace corolane::tools::cli
