// SPDX-License-Identifier: MIT
#include "framework/pages/detail/page_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <variant>

#include "coroutine/base/text.h"
#include "coroutine/inspect/folded_frames.h"
#include "coroutine/inspect/symbols.h"
#include "framework/pages/detail/page.h"

namespace corolane::framework::detail {
namespace {

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

std::string list_text(std::span<const Json> elements) {
  std::string text;
  for (const Json& element : elements) {
    text.append(text.empty() ? "" : ", ").append(cell_text(element));
  }
  return text;
}

struct Column {
  std::string_view head;
  std::string_view key;
  const ComputedCell* computed = nullptr;  // Null: the member of that key.
};

std::vector<Column> columns_of(std::string_view legend,
                               std::initializer_list<ComputedCell> computed) {
  std::vector<Column> columns;
  while (!legend.empty()) {
    const std::string_view entry = legend.substr(0, legend.find(", "));
    legend.remove_prefix(std::min(entry.size() + 2, legend.size()));
    const std::size_t colon = entry.find(": ");
    Column& column = columns.emplace_back(entry.substr(0, colon), entry.substr(colon + 2));
    const auto found = std::ranges::find(computed, column.key, &ComputedCell::key);
    if (found != computed.end()) column.computed = found;
  }
  return columns;
}

std::string cell_of(const Column& column, const Json& row) {
  if (column.computed != nullptr) return column.computed->text(row);
  const Json& value = row.at(column.key);
  if (value.is_null()) return "-";
  if (column.head.ends_with(" US")) return fixed_text(value.number() * 1e6, 1);
  if (column.head.ends_with(" KIB")) return fixed_text(std::ceil(value.number() / 1024), 0);
  return column.key.contains("seconds") ? seconds_text(value) : cell_text(value);
}

}  // namespace

std::string cell_text(const Json& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool>) {
          return held ? "yes" : "no";
        } else if constexpr (std::is_floating_point_v<Held>) {
          return fixed_text(held, 1);
        } else if constexpr (std::is_integral_v<Held>) {
          return std::to_string(held);
        } else if constexpr (std::is_same_v<Held, std::string>) {
          return or_dash(escaped(held));
        } else if constexpr (std::is_same_v<Held, Json::Array>) {
          return or_dash(list_text(held));
        } else {
          return "-";
        }
      },
      value.value());
}

std::string seconds_text(const Json& seconds) {
  return seconds.is_null() ? "-" : fixed_text(seconds.number(), 3) + "s";
}

std::string table_text(const Json& rows, std::string_view legend,
                       std::initializer_list<ComputedCell> computed) {
  const auto columns = columns_of(legend, computed);
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines.front().emplace_back(column.head);
  for (const Json& row : rows.elements()) {
    auto& line = lines.emplace_back();
    for (const Column& column : columns) line.push_back(cell_of(column, row));
  }
  return aligned_text(lines);
}

std::string aligned_text(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(line.size());
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      text.append(line[i]).append(widths[i] - line[i].size() + 2, ' ');
    }
    text.append(line.back()).append("\n");
  }
  return text;
}

std::string total_text(const Json& page, std::string_view key, std::string_view which) {
  const Json& count = page.at("count");
  const std::size_t shown_count = page.at(key).elements().size();
  std::string text = count_text(count, key.substr(0, key.size() - 1), key);
  if (count.number() > static_cast<double>(shown_count)) {
    text.append(", the ").append(std::to_string(shown_count)).append(" ");
    text.append(which).append(" shown");
  }
  return text + "\n";
}

std::string count_text(const Json& count, std::string_view one, std::string_view many) {
  return cell_text(count).append(" ").append(count.number() == 1 ? one : many);
}

std::string frames_text(const Json& stack) {
  std::vector<coroutine::SourceFrame> frames;
  for (const Json& frame : stack.elements()) {
    frames.push_back({.function = std::string(frame.at("function").text()),
                      .file = std::string(frame.at("file").text()),
                      .line = static_cast<int>(frame.at("line").number())});
  }
  return coroutine::to_text(coroutine::folded(std::move(frames)));
}

}  // namespace corolane::framework::detail
