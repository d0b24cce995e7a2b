// SPDX-License-Identifier: MIT
// A configuration before it has types: the contents of the file and the overrides, with their
// places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corolane::config::detail {

// The limit of nesting for sections and lists, so that recursion over them fits a small stack.
inline constexpr std::size_t nesting_max = 32;

// The source of a value: "node.yaml:3", or "--set chess.clock", which has no lines.
struct Place {
  std::string source;
  int line = 0;  // Counts from one; zero where the source has no lines.

  std::string to_string() const { return line == 0 ? source : source + ":" + std::to_string(line); }
};

// One line of a failed load.
struct Problem {
  Place place;
  std::string message;
};

// A tree of the contents of all sources. Its depth is at most nesting_max.
struct SourceNode {
  enum class Kind {
    nothing,   // A key without a value, or null.
    text,      // A scalar; the reader decides its type.
    raw_text,  // The value of an override: a scalar, or YAML where a list is expected.
    list,
    section,
    broken,  // Reported already.
  };

  Kind kind = Kind::nothing;
  Place place = {};                       // The key's place in a section, the value's elsewhere.
  std::string key = {};                   // Set for a child of a section.
  std::string text = {};                  // Set for text and raw_text.
  std::vector<SourceNode> children = {};  // Set for a list and a section.

  SourceNode* find(std::string_view name) {
    const auto child = std::ranges::find(children, name, &SourceNode::key);
    return child == children.end() ? nullptr : &*child;
  }
};

}  // namespace corolane::config::detail
