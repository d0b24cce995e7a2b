// SPDX-License-Identifier: MIT
// Values from the command line and the environment that replace those of the file.
//
//   const Overrides overrides = {.environment = process_environment(),
//                                .settings = {"chess.rooms_max=5"}};
//   auto loaded = load_file<ChessConfig>("chess.yaml", overrides);
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corolane::config {

namespace detail {
struct SourceNode;
struct Problem;
}  // namespace detail

// Applied after the file, the environment first, so that the command line has the last word. The
// value is the literal text of a scalar, without YAML's quotes and comments; where a list is
// expected it is YAML, such as [a, b]; null empties an optional field.
struct Overrides {
  // "COROLANE_CHESS__ROOMS_MAX=5": two underscores stand for a dot. Other prefixes are ignored.
  std::vector<std::string> environment = {};
  // "chess.rooms_max=5": the argument of each --set.
  std::vector<std::string> settings = {};
};

inline constexpr std::string_view environment_prefix = "COROLANE_";

// The variables of this process that start with the prefix, except COROLANE_ADMIN and
// COROLANE_LEASE_FILE, which are not keys. Not safe while another thread changes the environment.
std::vector<std::string> process_environment();

namespace detail {

// Puts the overrides into the tree of a file; `problems` receives those that have no place in it.
void apply(const Overrides& overrides, SourceNode& root, std::vector<Problem>& problems);

}  // namespace detail
}  // namespace corolane::config
