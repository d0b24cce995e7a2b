// What a command of `corolane` is: words in, text and exit status out.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tools/arguments.h"

namespace corolane::tools::cli {

// Why a command did not do what it was for.
struct Failure {
  enum class Kind {
    failed = 1,   // What was asked for went wrong: the exit status is 1.
    misused = 2,  // What was asked for makes no sense: the exit status is 2.
  };

  Kind kind;
  std::string message;  // For standard error, without the last line's end.
};

inline std::unexpected<Failure> failed(std::string message) {
  return std::unexpected(Failure{Failure::Kind::failed, std::move(message)});
}
inline std::unexpected<Failure> misused(std::string message) {
  return std::unexpected(Failure{Failure::Kind::misused, std::move(message)});
}
// For words that are not as the help of that command has them.
inline std::unexpected<Failure> wrong_usage(std::string_view command, std::string_view message) {
  const std::string name(command);
  return misused("corolane " + name + ": " + std::string(message) + "; see corolane help " + name);
}

// What to print.
using Outcome = std::expected<std::string, Failure>;

// What completion offers for a word of a command.
enum class WordKind : std::uint8_t { free, method, object, choice };

struct Command {
  std::string_view name;
  std::string_view summary;  // In half a line.
  std::string_view help;     // Begins with "Usage:".
  std::span<const OptionRule> options;
  Outcome (*run)(const Arguments& arguments);
  // It talks to the admin pages of a node: then it has the options of admin_door.h as well, and its
  // help ends with theirs.
  bool asks_pages = false;
  // The word behind HOST:PORT, or the first one where there is no such.
  WordKind word = WordKind::free;
  std::string_view word_choices = {};  // Apart by blanks.
};

}  // namespace corolane::tools::cli
