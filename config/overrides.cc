// SPDX-License-Identifier: MIT
// An override is a path, a value and a label; its path is followed from the root of the tree.
#include "config/overrides.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "config/detail/source_node.h"
#include "config/detail/text.h"
#include "coroutine/base/text.h"

namespace corolane::config {
namespace detail {
namespace {

using Path = std::vector<std::string>;

struct Setting {
  Place place;
  Path path;
  std::optional<std::string_view> text;  // Empty without a '='.
  std::string_view expected;
};

Path split(std::string_view text, std::string_view separator) {
  Path parts;
  for (auto end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

// Splits "name=text"; without the sign there is no text.
std::pair<std::string_view, std::optional<std::string_view>> split_at_equals(
    std::string_view assignment) {
  const std::size_t end = assignment.find('=');
  if (end == assignment.npos) return {assignment, {}};
  return {assignment.substr(0, end), assignment.substr(end + 1)};
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Follows `path` from `root` and creates missing sections. Returns null, and reports it, where
// another kind of value is in the way.
SourceNode* open_section(SourceNode& root, const Path& path, const Place& place,
                         std::vector<Problem>& problems) {
  SourceNode* section = &root;
  for (const std::string& key : path) {
    SourceNode* child = section->find(key);
    if (child == nullptr) {
      section->children.push_back({.kind = SourceNode::Kind::section, .place = place, .key = key});
      child = &section->children.back();
    }
    if (child->kind == SourceNode::Kind::nothing) child->kind = SourceNode::Kind::section;
    if (child->kind != SourceNode::Kind::section) {
      problems.push_back({place, excerpt(key) + " is not a section, it has a value from " +
                                     child->place.to_string()});
      return nullptr;
    }
    section = child;
  }
  return section;
}

Setting from_environment(std::string_view variable) {
  const auto [name, text] = split_at_equals(variable);
  return {.place = {"environment " + escaped(name)},
          .path = split(lower_case(name.substr(environment_prefix.size())), "__"),
          .text = text,
          .expected = "a name such as COROLANE_CHESS__ROOMS_MAX"};
}

Setting from_command_line(std::string_view setting) {
  const auto [name, text] = split_at_equals(setting);
  return {.place = {"--set " + escaped(name)},
          .path = split(name, "."),
          .text = text,
          .expected = "a key and its value, such as chess.rooms_max=5"};
}

// The problem of a setting before it is looked up in the tree; empty when there is none.
std::string problem_in(const Setting& setting) {
  if (!setting.text || std::ranges::find(setting.path, "") != setting.path.end()) {
    return "expected " + std::string(setting.expected);
  }
  if (setting.path.size() > nesting_max) {
    return "nested deeper than " + std::to_string(nesting_max) + " levels";
  }
  if (utf8_length(*setting.text) != setting.text->size()) return "the value is not UTF-8";
  return {};
}

void set(SourceNode& root, Setting setting, std::vector<Problem>& problems) {
  if (std::string problem = problem_in(setting); !problem.empty()) {
    problems.push_back({setting.place, std::move(problem)});
    return;
  }
  const std::string key = std::move(setting.path.back());
  setting.path.pop_back();
  SourceNode* const section = open_section(root, setting.path, setting.place, problems);
  if (section == nullptr) return;
  if (section->find(key) == nullptr) section->children.push_back({.key = key});
  *section->find(key) = {.kind = SourceNode::Kind::raw_text,
                         .place = setting.place,
                         .key = key,
                         .text = std::string(*setting.text)};
}

}  // namespace

void apply(const Overrides& overrides, SourceNode& root, std::vector<Problem>& problems) {
  if (root.kind == SourceNode::Kind::nothing) root.kind = SourceNode::Kind::section;
  for (const std::string_view variable : overrides.environment) {
    if (variable.starts_with(environment_prefix)) set(root, from_environment(variable), problems);
  }
  for (const std::string_view setting : overrides.settings) {
    set(root, from_command_line(setting), problems);
  }
}

}  // namespace detail

// Used by the command `corolane` and by a supervisor; not keys.
constexpr std::array<std::string_view, 2> other_variables = {"COROLANE_ADMIN=",
                                                             "COROLANE_LEASE_FILE="};

std::vector<std::string> process_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const auto begins_it = [&](std::string_view name) { return variable.starts_with(name); };
    if (begins_it(environment_prefix) && std::ranges::none_of(other_variables, begins_it)) {
      variables.emplace_back(variable);
    }
  }
  return variables;
}

}  // namespace corolane::config
