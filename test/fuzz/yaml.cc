// SPDX-License-Identifier: MIT
// The configuration loader: a load returns a configuration that is printed and read back as an
// equal one, or an error whose every line names a place.
//
// Input: the file, then each override behind a zero byte: an environment variable when it begins
// with our prefix, otherwise an argument of --set.
#include <algorithm>
#include <string>
#include <string_view>

#include "config/loader.h"
#include "coroutine/base/check.h"
#include "test/config/sample_config.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {
namespace {

constexpr std::string_view file_name = "node.yaml";

// Returns the text before the next zero byte and removes both from `text`.
std::string_view take_part(std::string_view& text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool says_where(std::string_view line) {
  if (line.starts_with("--set ") || line.starts_with("environment ")) {
    return line.contains(": ");
  }
  if (!line.starts_with(file_name) || line.size() <= file_name.size()) return false;
  line.remove_prefix(file_name.size());
  if (line.starts_with(": ")) return line.size() > 2;
  // ":12: what is wrong"
  const std::size_t digits = line.find_first_not_of("0123456789", 1);
  return line.starts_with(":") && digits > 1 && digits < line.size() &&
         line.substr(digits).starts_with(": ") && line.size() > digits + 2;
}

void check_error(std::string_view message) {
  check(!message.empty(), "an error says something");
  while (!message.empty()) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    check(says_where(message.substr(0, end)), "every line of an error names a place");
    message.remove_prefix(std::min(end + 1, message.size()));
  }
}

}  // namespace

void run(Input input) {
  using config::sample::NodeConfig;
  std::string_view rest = text_of(input.rest());
  const std::string_view text = take_part(rest);
  config::Overrides overrides;
  while (!rest.empty()) {
    const std::string part(take_part(rest));
    const bool is_variable = part.starts_with(config::environment_prefix);
    (is_variable ? overrides.environment : overrides.settings).push_back(part);
  }

  const auto loaded = config::load_text<NodeConfig>(text, file_name, overrides);
  if (!loaded) return check_error(loaded.error().message());
  const std::string printed = config::print(loaded->value, loaded->origins);
  const auto again = config::load_text<NodeConfig>(printed, file_name);
  check(again.has_value(), "a printed configuration can be loaded");
  check(again->value == loaded->value, "and is the same configuration");
  check(config::print(again->value) == config::print(loaded->value), "and prints the same");
}

}  // namespace corolane::fuzz
