// SPDX-License-Identifier: MIT
#include "tools/corolane/stats_text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace corolane::tools::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* silent_shards = "silent_shards";

// A value with its name; the only value of a line has no name.
struct Cell {
  std::string name;
  std::string value;
};

struct Line {
  std::size_t indent;
  std::string key;
  std::vector<Cell> cells;
};

// An object, or a list of objects, needs lines of its own; any other value stands on one line.
bool has_own_lines(const Json& value) {
  return value.is_object() || (value.is_array() && std::ranges::any_of(value, has_own_lines));
}

std::string value_text(const Json& value) {
  if (value.is_array()) {
    std::string text;
    for (const Json& element : value) text += (text.empty() ? "" : ", ") + value_text(element);
    return text;
  }
  // Escaped, so that no name can move the cursor of a terminal.
  const std::string text = value.dump();
  return value.is_string() ? text.substr(1, text.size() - 2) : text;
}

// Adds lines for the members of an object, or for the elements of a list under their numbers.
void add_lines(const Json& group, std::size_t indent, std::vector<Line>& lines) {
  for (const auto& [key, value] : group.items()) {
    Line& line = lines.emplace_back(Line{.indent = indent, .key = key, .cells = {}});
    if (!has_own_lines(value)) {
      line.cells.push_back({.name = "", .value = value_text(value)});
      continue;
    }
    Json nested = value.is_array() ? Json::array() : Json::object();
    for (const auto& [inner_key, inner] : value.items()) {
      if (!has_own_lines(inner)) {
        line.cells.push_back({.name = inner_key, .value = value_text(inner)});
      } else if (value.is_array()) {
        nested.push_back(inner);
      } else {
        nested[inner_key] = inner;
      }
    }
    add_lines(nested, indent + 2, lines);
  }
}

// The widths of the columns: keys of the same indent, and values of the same name in lines of the
// same indent.
class Widths {
 public:
  explicit Widths(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      if (!line.cells.empty()) widen({line.indent, ""}, line.key);
      for (const Cell& cell : line.cells) {
        if (!cell.name.empty()) widen({line.indent, cell.name}, cell.value);
      }
    }
  }

  std::string print(const Line& line) const {
    std::string text = std::string(line.indent, ' ') + line.key;
    if (line.cells.empty()) return text + "\n";
    text += padding({line.indent, ""}, line.key);
    for (const Cell& cell : line.cells) {
      text += "  ";
      if (!cell.name.empty())
        text += cell.name + " " + padding({line.indent, cell.name}, cell.value);
      text += cell.value;
    }
    return text + "\n";
  }

 private:
  using Column = std::pair<std::size_t, std::string>;  // Indent and name; keys have no name.

  void widen(const Column& column, const std::string& text) {
    std::size_t& width = widths_[column];
    width = std::max(width, text.size());
  }
  std::string padding(const Column& column, const std::string& text) const {
    return std::string(widths_.at(column) - text.size(), ' ');
  }

  std::map<Column, std::size_t> widths_;
};

// The shards that hang, without which the sums below are.
std::string silent_shards_text(const Json& stats) {
  std::string text;
  if (const auto rows = stats.find(silent_shards); rows != stats.end()) {
    for (const Json& row : *rows) text += value_text(row.value("text", Json())) + "\n";
  }
  return text;
}

}  // namespace

Result<std::string> stats_text(std::string_view json) {
  const Json stats = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!stats.is_object()) {
    return Error(Code::invalid_argument,
                 "the answer is not a JSON object: are these the admin pages of a node?");
  }
  std::string text = silent_shards_text(stats);
  for (const auto& [name, section] : stats.items()) {
    if (name == silent_shards) continue;
    std::vector<Line> lines;
    add_lines(section, 2, lines);
    const Widths widths(lines);
    text.append(text.empty() ? "" : "\n").append(name).append("\n");
    for (const Line& line : lines) text += widths.print(line);
  }
  return text;
}

}  // namespace corolane::tools::cli
