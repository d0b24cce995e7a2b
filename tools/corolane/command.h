// SPDX-License-Identifier: MIT
// A command of `corolane`: words in, text and exit status out.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tools/arguments.h"

namespace corolane::tools::cli {

// The reason why a command failed.
struct Failure {
  enum class Kind {
    failed = 1,   // The request failed: exit status 1.
    misused = 2,  // The request makes no sense: exit status 2.
  };

  Kind kind;
  std::string message;  // For standard error, without a final line break.
};

inline std::unexpected<Failure> failed(std::string message) {
  return std::unexpected(Failure{Failure::Kind::failed, std::move(message)});
}
inline std::unexpected<Failure> misused(std::string message) {
  return std::unexpected(Failure{Failure::Kind::misused, std::move(message)});
}
// A failure for a command line that does not match the help of the command.
inline std::unexpected<Failure> wrong_usage(std::string_view command, std::string_view message) {
  const std::string name(command);
  return misused("corolane " + name + ": " + std::string(message) + "; see corolane help " + name);
}

// The text to print, or a failure.
using Outcome = std::expected<std::string, Failure>;

// The completions that are offered for a word of a command.
enum class WordKind : std::uint8_t { free, method, object, choice, file };

struct Command {
  std::string_view name;
  std::string_view summary;  // For the overview; half a line.
  std::string_view help;     // Begins with "Usage:".
  std::span<const OptionRule> options;
  Outcome (*run)(const Arguments& arguments);
  // The command talks to the admin pages of a node: it also has the options of admin_door.h, and
  // their help.
  bool asks_pages = false;
  // The word after HOST:PORT. A file, or a choice of a command that asks no pages, is the first.
  WordKind word = WordKind::free;
  std::string_view word_choices = {};  // Separated by blanks.
};

}  // namespace corolane::tools::cli
