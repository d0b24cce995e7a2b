// SPDX-License-Identifier: MIT
#include "tools/corolane/top/view.h"

#include <algorithm>
#include <limits>

namespace corolane::tools::cli::top {
namespace {

constexpr char control_c = '\x03';
constexpr std::ptrdiff_t page_rows = 10;
constexpr std::ptrdiff_t all_rows = std::numeric_limits<std::ptrdiff_t>::max() / 2;

}  // namespace

void View::press(Key key, const Frame& frame) {
  if (shows_help_ && key != Key{.character = control_c}) {
    shows_help_ = false;
    return;
  }
  switch (key.kind) {
    case Key::Kind::character:
      return press_character(key.character, frame);
    case Key::Kind::up:
      return move(-1, frame);
    case Key::Kind::down:
      return move(1, frame);
    case Key::Kind::page_up:
      return move(-page_rows, frame);
    case Key::Kind::page_down:
      return move(page_rows, frame);
    case Key::Kind::home:
      return move(-all_rows, frame);
    case Key::Kind::end:
      return move(all_rows, frame);
    case Key::Kind::enter:
      return enter(frame);
    case Key::Kind::escape:
      is_open_ = false;
      return;
  }
}

void View::press_character(char key, const Frame& frame) {
  switch (key) {
    case 'q':
    case control_c:
      // Closes an open item first, as pagers do.
      quits_ = key == control_c || !is_open_;
      is_open_ = false;
      return;
    case 'h':
    case '?':
      shows_help_ = true;
      return;
    case 'm':
      return choose(TableKind::methods, frame);
    case 't':
      return choose(TableKind::tasks, frame);
    case 's':
      return choose(TableKind::stacks, frame);
    case 'c':
      peer_.clear();
      return choose(TableKind::cluster, frame);
    case 'j':
      return move(1, frame);
    case 'k':
      return move(-1, frame);
    case 'r':
      order().is_reversed = !order().is_reversed;
      return select(0, frame);
    default:
      return sort_by(key, frame);
  }
}

void View::choose(TableKind table, const Frame& frame) {
  is_open_ = false;
  if (table == table_) return;
  table_ = table;
  selected_id_.clear();
  select(0, frame);
}

void View::enter(const Frame& frame) {
  if (table_ == TableKind::cluster && !is_open_) {
    const auto& nodes = frame.cluster.rows;
    const auto node = std::ranges::find(nodes, selected_id_, &Row::id);
    if (node != nodes.end() && !node->peer.empty()) {
      peer_ = node->peer;
      return choose(TableKind::methods, frame);
    }
  }
  // Methods have no details to open.
  is_open_ = table_ != TableKind::methods && !selected_id_.empty();
  scroll_ = 0;
}

void View::sort_by(char key, const Frame& frame) {
  const auto& columns = frame.table(table_).columns;
  const auto found = std::ranges::find(columns, key, &Column::key);
  if (is_open_ || found == columns.end()) return;
  order() = {.column = static_cast<std::size_t>(found - columns.begin()), .is_reversed = false};
  select(0, frame);
}

void View::move(std::ptrdiff_t rows, const Frame& frame) {
  // The length of an open item is known only when it is drawn, which limits the scroll position.
  const auto last = is_open_ ? std::ptrdiff_t{1'000}
                             : static_cast<std::ptrdiff_t>(frame.table(table_).rows.size()) - 1;
  std::size_t& place = is_open_ ? scroll_ : selected_;
  place =
      static_cast<std::size_t>(std::clamp(static_cast<std::ptrdiff_t>(place) + rows,
                                          std::ptrdiff_t{0}, std::max(last, std::ptrdiff_t{0})));
  if (!is_open_) select(selected_, frame);
}

void View::select(std::size_t row, const Frame& frame) {
  const auto all = rows(frame);
  selected_ = all.empty() ? 0 : std::min(row, all.size() - 1);
  selected_id_ = all.empty() ? "" : all[selected_]->id;
}

void View::follow(const Frame& frame) {
  // While the first row is selected, the view stays on the first row.
  if (selected_ == 0 && !is_open_) return select(0, frame);
  const auto all = rows(frame);
  const auto found = std::ranges::find(all, selected_id_, &Row::id);
  if (found != all.end()) {
    selected_ = static_cast<std::size_t>(found - all.begin());
  } else if (!is_open_) {
    select(selected_, frame);
  }
}

std::vector<const Row*> View::rows(const Frame& frame) const {
  const Table& shown = frame.table(table_);
  std::vector<const Row*> rows;
  for (const Row& row : shown.rows) rows.push_back(&row);
  const auto [column, is_reversed] = order();
  const bool is_text = shown.columns.at(column).is_text;
  std::ranges::stable_sort(rows, [&](const Row* left, const Row* right) {
    if (is_reversed) std::swap(left, right);
    const Cell& a = left->cells[column];
    const Cell& b = right->cells[column];
    return is_text ? a.text < b.text : a.number > b.number;
  });
  std::ranges::stable_partition(rows, [](const Row* row) { return !row->is_idle; });
  return rows;
}

}  // namespace corolane::tools::cli::top
