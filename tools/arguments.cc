#include "tools/arguments.h"

#include <algorithm>

namespace corolane::tools {
namespace {

Error misuse(std::string message) { return Error(Code::invalid_argument, std::move(message)); }

}  // namespace

Result<Arguments> parse_arguments(std::span<const char* const> words,
                                  std::span<const OptionRule> rules) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("--")) {
      arguments.words.emplace_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name(word.substr(0, equals));
    const auto rule = std::ranges::find(rules, name, &OptionRule::name);
    if (rule == rules.end()) return misuse("unknown option \"" + name + "\"");

    std::string value;
    if (equals != std::string_view::npos) {
      if (!rule->has_value) return misuse(name + " takes no value");
      value = word.substr(equals + 1);
    } else if (rule->has_value) {
      if (i + 1 == words.size()) return misuse(name + " needs a value");
      value = words[++i];
    }
    arguments.options.insert_or_assign(name, value);
  }
  return arguments;
}

}  // namespace corolane::tools
