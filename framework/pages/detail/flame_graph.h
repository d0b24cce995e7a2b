// SPDX-License-Identifier: MIT
// Shows where time was spent, by stack: as folded lines, and as a flame graph.
//
// Brendan Gregg, The Flame Graph (ACM Queue 14, 2, 2016): each box is a function, as wide as the
// time spent in it and in its callees, which stand on it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace corolane::framework::detail {

class FlameGraph {
 public:
  // `stack` begins with the outermost function; `weight` is in any unit.
  void add(const std::vector<std::string>& stack, std::uint64_t weight);

  std::uint64_t total() const { return root_.weight; }

  // Returns "main;handle;compute 17", a line for each stack, sorted by name: the format that flame
  // graph tools read.
  std::string folded() const;
  // Returns a self-contained picture, for light and dark screens. `title` stands above it. A box
  // shows its share when pointed at, with `unit` behind the weight, and takes the whole width when
  // clicked; a field finds functions by a part of their name.
  std::string svg(std::string_view title, std::string_view unit) const;

 private:
  struct Node {
    std::uint64_t weight = 0;  // Includes the functions above it.
    std::uint64_t own = 0;
    std::map<std::string, Node, std::less<>> children;
  };

  class Drawing;

  static void add_folded(const Node& node, std::string& above, std::string& text);

  Node root_;
};

}  // namespace corolane::framework::detail
