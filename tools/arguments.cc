// SPDX-License-Identifier: MIT
#include "tools/arguments.h"

#include <algorithm>
#include <cctype>

namespace corolane::tools {
namespace {

Error misuse(std::string message) { return Error(Code::invalid_argument, std::move(message)); }

// "-" alone is a word: it stands for standard input.
bool is_option(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  return word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

// Whether `choices`, words separated by blanks, contain the value.
bool is_choice(std::string_view value, std::string_view choices) {
  while (!choices.empty()) {
    const std::size_t blank = std::min(choices.find(' '), choices.size());
    if (choices.substr(0, blank) == value) return true;
    choices.remove_prefix(std::min(blank + 1, choices.size()));
  }
  return false;
}

std::string with_commas(std::string_view choices) {
  std::string text;
  for (const char c : choices) text += c == ' ' ? std::string(", ") : std::string(1, c);
  return text;
}

}  // namespace

Result<Arguments> parse_arguments(std::span<const char* const> words,
                                  std::span<const OptionRule> rules) {
  Arguments arguments;
  bool has_ended = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!has_ended && word == "--") {
      has_ended = true;
      continue;
    }
    if (has_ended || !is_option(word)) {
      arguments.words.emplace_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    std::string name(word.substr(0, equals));
    if (name == "-h") name = "--help";
    const auto rule = std::ranges::find(rules, name, &OptionRule::name);
    if (rule == rules.end()) return misuse("unknown option \"" + name + "\"");
    if (arguments.has(name)) return misuse(name + " is given twice");

    std::string value;
    if (equals != std::string_view::npos) {
      if (!rule->has_value) return misuse(name + " takes no value");
      value = word.substr(equals + 1);
    } else if (rule->has_value) {
      if (i + 1 == words.size()) return misuse(name + " needs a value");
      value = words[++i];
    }
    if (!rule->choices.empty() && !is_choice(value, rule->choices)) {
      return misuse(name + " is one of " + with_commas(rule->choices));
    }
    arguments.options.emplace(name, value);
  }
  return arguments;
}

}  // namespace corolane::tools
