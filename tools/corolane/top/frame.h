// What `corolane top` shows of a node: two samples, and what happened between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/corolane/top/sample.h"

namespace corolane::tools::cli::top {

struct Column {
  std::string_view title;
  char key = 0;          // Sorts by it.
  bool is_text = false;  // Set to the left and sorted from a on; numbers are the other way round.
};

struct Cell {
  Cell(std::string shown) : text(std::move(shown)) {}  // NOLINT(google-explicit-constructor)
  Cell(std::string shown, double value) : text(std::move(shown)), number(value) {}

  std::string text;
  double number = 0;  // What it is sorted by, where the column is none of text.
};

struct Row {
  std::string id;  // What Enter opens; the same from frame to frame.
  std::vector<Cell> cells;
  std::vector<std::string> details;  // Shown when it is open.
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::uint64_t count = 0;  // Of all; a node does not list very many.
};

// A line above the tables: what it is of, and its figures.
struct SummaryLine {
  std::string_view label;
  std::string text;
};

enum class TableKind : std::uint8_t { methods, tasks, stacks };

struct Snapshot {
  StatsSample stats;
  // Only what was asked for.
  std::optional<TasksSample> tasks = {};
  std::optional<std::vector<StackSample>> stacks = {};
  std::optional<TaskSample> open_task = {};
};

struct Frame {
  std::string title;
  std::vector<SummaryLine> summary;
  Table methods;
  Table tasks;
  Table stacks;
  std::optional<TaskSample> open_task;

  const Table& table(TableKind kind) const;
};

// `before` is an earlier one of the same node; when it is of another process, or null, all rates
// are zero and the latencies those since the start.
Frame make_frame(const Snapshot* before, const Snapshot& now);

// The same figures on one line, for programs.
std::string frame_json(const Snapshot* before, const Snapshot& now);

}  // namespace corolane::tools::cli::top
