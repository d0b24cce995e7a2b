// SPDX-License-Identifier: MIT
// The contents of `corolane top`: a snapshot of a node, and the changes since the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/corolane/top/cluster_sample.h"
#include "tools/corolane/top/sample.h"

namespace corolane::tools::cli::top {

struct Column {
  std::string_view title;
  char key = 0;          // The key that sorts by it.
  bool is_text = false;  // Left-aligned, sorted ascending; numbers are the opposite.
};

struct Cell {
  Cell(std::string shown) : text(std::move(shown)) {}  // NOLINT(google-explicit-constructor)
  Cell(std::string shown, double value) : text(std::move(shown)), number(value) {}

  std::string text;
  double number = 0;  // The sort value, in a column of numbers.
};

struct Row {
  std::string id;  // Identifies the row, also in the next frame.
  std::vector<Cell> cells;
  std::vector<std::string> details;  // Shown when the row is open.
  std::string peer = {};             // Where Enter goes instead: the admin address of a node.
  bool is_idle = false;              // Idle rows come last in any order.
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::uint64_t count = 0;  // The count of all rows; a node lists only some.
};

// A line above the tables: a label and its figures.
struct SummaryLine {
  std::string_view label;
  std::string text;
};

enum class TableKind : std::uint8_t { methods, tasks, stacks, cluster };
inline constexpr std::size_t table_count = 4;

struct Snapshot {
  StatsSample stats;
  MethodsSample methods = {};
  // Present only if requested.
  std::optional<TasksSample> tasks = {};
  std::optional<std::vector<StackSample>> stacks = {};
  std::optional<TaskSample> open_task = {};
  std::optional<ClusterSample> cluster = {};
};

// Whether both are of one process.
bool is_same_process(const StatsSample& left, const StatsSample& right);

struct Frame {
  std::string title;
  std::vector<SummaryLine> summary;
  Table methods;
  Table tasks;
  Table stacks;
  Table cluster;
  std::vector<SummaryLine> cluster_summary;  // Above the table of the cluster.
  std::optional<TaskSample> open_task;

  const Table& table(TableKind kind) const;
  const std::vector<SummaryLine>& summary_of(TableKind kind) const {
    return kind == TableKind::cluster ? cluster_summary : summary;
  }
};

// `before` is an earlier snapshot of the same node. When it is null or from another process, all
// rates are zero, and the latencies are those since the start.
Frame make_frame(const Snapshot* before, const Snapshot& now);

// The same figures as one line of JSON, for programs.
std::string frame_json(const Snapshot* before, const Snapshot& now);

}  // namespace corolane::tools::cli::top
