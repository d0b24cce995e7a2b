// SPDX-License-Identifier: MIT
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

// An option that a command accepts.
struct OptionRule {
  std::string_view name;  // "--timeout".
  bool has_value = false;
  std::string_view choices = {};  // The allowed values, separated by blanks; empty: any.
};

struct Arguments {
  std::vector<std::string> words;
  std::map<std::string, std::string, std::less<>> options;  // An option without a value maps to "".

  bool has(std::string_view option) const { return options.contains(option); }
};

// Options may stand anywhere before a word "--", with their value as "--timeout 5s" or
// "--timeout=5s"; "-h" is short for "--help". Fails with invalid_argument for an option that has no
// rule or is given twice, for a missing value, and for one that is not expected.
Result<Arguments> parse_arguments(std::span<const char* const> words,
                                  std::span<const OptionRule> rules);

}  // namespace corolane::tools
