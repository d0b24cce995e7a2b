// A configuration before it has types: what the file and the overrides say, and where.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corolane::config::detail {

// Sections and lists nest no deeper, so that whatever recurses over them fits a small stack.
inline constexpr std::size_t nesting_max = 32;

// Where a value comes from: "node.yaml:3", or "--set chess.clock", which has no lines.
struct Place {
  std::string source;
  int line = 0;  // From one; zero where the source has no lines.

  std::string to_string() const { return line == 0 ? source : source + ":" + std::to_string(line); }
};

// One line of a failed load.
struct Problem {
  Place place;
  std::string message;
};

// A tree of what the sources say. Its depth is at most nesting_max.
struct SourceNode {
  enum class Kind {
    nothing,   // A key without a value, or null.
    text,      // A scalar; its type is up to whoever reads it.
    raw_text,  // The value of an override: a scalar, or YAML where a list is expected.
    list,
    section,
    broken,  // Reported already.
  };

  Kind kind = Kind::nothing;
  Place place = {};                       // Of the key in a section, of the value elsewhere.
  std::string key = {};                   // Of a child of a section.
  std::string text = {};                  // Of text and raw_text.
  std::vector<SourceNode> children = {};  // Of list and section.

  SourceNode* find(std::string_view name) {
    const auto child = std::ranges::find(children, name, &SourceNode::key);
    return child == children.end() ? nullptr : &*child;
  }
};

}  // namespace corolane::config::detail
