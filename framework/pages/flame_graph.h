// Where time went, by stacks: as folded lines, and as a flame graph.
//
// Brendan Gregg, The Flame Graph (ACM Queue 14, 2, 2016): each box is a function, as wide as the
// time that was spent in it and in what it called, which stands on it.
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
  // `stack` has the outermost first; `weight` is in any unit.
  void add(const std::vector<std::string>& stack, std::uint64_t weight);

  std::uint64_t total() const { return root_.weight; }

  // "main;handle;compute 17", a line for each stack, in the order of their names: what the tools of
  // the field take.
  std::string folded() const;
  // A picture that needs nothing else, light and dark. `title` stands above it; a box says its
  // share when pointed at, with `unit` behind the weight.
  std::string svg(std::string_view title, std::string_view unit) const;

 private:
  struct Node {
    std::uint64_t weight = 0;  // With what stands on it.
    std::uint64_t own = 0;
    std::map<std::string, Node, std::less<>> children;
  };

  class Drawing;

  static void add_folded(const Node& node, std::string& above, std::string& text);

  Node root_;
};

}  // namespace corolane::framework::detail
