// The words of a command line, after the name of the command.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::tools {

// What a command may be given.
struct OptionRule {
  std::string_view name;  // "--timeout".
  bool has_value = false;
  std::string_view choices = {};  // The only values that make sense, apart by blanks, if so.
};

struct Arguments {
  std::vector<std::string> words;
  std::map<std::string, std::string, std::less<>> options;  // A value is empty if there is none.

  bool has(std::string_view option) const { return options.contains(option); }
};

// Options may stand anywhere, with their value as "--timeout 5s" or "--timeout=5s". Fails with
// invalid_argument on what is no option of these, and on a value that is missing or not expected.
Result<Arguments> parse_arguments(std::span<const char* const> words,
                                  std::span<const OptionRule> rules);

}  // namespace corolane::tools
