// SPDX-License-Identifier: MIT
// Draws the text of a page from its JSON.
//
//   table_text(page.at("tasks"), "ID: id, NAME: name, AGE: age_seconds") +
//       total_text(page, "tasks", "oldest")
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "framework/admin/json.h"

namespace corolane::framework::detail {

// The value on one line: "-" for null and for what is empty, yes or no for a truth, one digit after
// the point of a fraction, and commas between the elements of an array.
std::string cell_text(const Json& value);
// "1.500s", or "-" for null.
std::string seconds_text(const Json& seconds);

// A cell that shows more than one member of its row.
struct ComputedCell {
  std::string_view key;
  std::string (*text)(const Json& row);
};

// A line with the heads, and a line for each row. `legend` lists the heads of the columns, each
// with the key of its members: "NAME: name, CPU: cpu_seconds, P50 US: p50_seconds". Seconds are
// shown as such, in microseconds under a head that ends with US, and bytes in units of 1024,
// rounded up, under one that ends with KIB.
std::string table_text(const Json& rows, std::string_view legend,
                       std::initializer_list<ComputedCell> computed = {});

// Lays out lines in columns, each as wide as its longest cell. All lines have as many cells.
std::string aligned_text(const std::vector<std::vector<std::string>>& lines);

// The line below a table of page.at(key), where the key names the rows: "1 task", or "1201 tasks,
// the 1000 oldest shown" when page.at("count") says that there are more.
std::string total_text(const Json& page, std::string_view key, std::string_view which);

// "1 byte", "2 bytes".
std::string count_text(const Json& count, std::string_view one, std::string_view many);

// A line for each frame of a stack.
std::string frames_text(const Json& stack);

}  // namespace corolane::framework::detail
