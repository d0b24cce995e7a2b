// SPDX-License-Identifier: MIT
// The user's view of a node, or of its cluster: a table, its order, a selected row, and an open
// item.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "tools/corolane/top/frame.h"
#include "tools/corolane/top/keys.h"

namespace corolane::tools::cli::top {

class View {
 public:
  explicit View(TableKind table = TableKind::methods) : table_(table) {}

  // Applies a key; `frame` is the frame that the user saw.
  void press(Key key, const Frame& frame);
  // Adapts to a new frame: the selected row stays selected wherever it is now, but a selected first
  // row stays the first.
  void follow(const Frame& frame);

  TableKind table() const { return table_; }
  // The rows of the table, in the chosen order.
  std::vector<const Row*> rows(const Frame& frame) const;
  std::size_t sort_column() const { return order().column; }
  std::size_t selected() const { return selected_; }
  std::size_t scroll() const { return scroll_; }
  bool is_open() const { return is_open_; }
  // The id of the selected or open row; empty before there was a row.
  const std::string& selected_id() const { return selected_id_; }
  // The admin address of the node of the cluster that the user looks at; empty: the one that was
  // named when the program started, which is also asked about the cluster.
  const std::string& peer() const { return peer_; }
  bool shows_help() const { return shows_help_; }
  bool quits() const { return quits_; }

 private:
  struct Order {
    std::size_t column = 0;
    bool is_reversed = false;
  };

  const Order& order() const { return orders_[static_cast<std::size_t>(table_)]; }
  Order& order() { return orders_[static_cast<std::size_t>(table_)]; }
  void choose(TableKind table, const Frame& frame);
  void enter(const Frame& frame);
  void sort_by(char key, const Frame& frame);
  void press_character(char key, const Frame& frame);
  void move(std::ptrdiff_t rows, const Frame& frame);
  void select(std::size_t row, const Frame& frame);

  TableKind table_;
  // The default orders: calls per second, age, count, name.
  std::array<Order, table_count> orders_ = {
      {{.column = 0}, {.column = 1}, {.column = 0}, {.column = 0}}};
  std::size_t selected_ = 0;
  std::string selected_id_;
  std::string peer_;
  std::size_t scroll_ = 0;  // The scroll position of the open item.
  bool is_open_ = false;
  bool shows_help_ = false;
  bool quits_ = false;
};

}  // namespace corolane::tools::cli::top
