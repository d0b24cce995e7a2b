// SPDX-License-Identifier: MIT
// The graph of waits between objects: finds cycles, and draws it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace corolane::framework::detail {

class WaitGraph {
 public:
  // `from` waits for `to`; `label` describes the call. Names are shown as they are.
  void add(const std::string& from, const std::string& to, const std::string& label);

  // A cycle for each group that all wait for one another: {"a", "b"} when a waits for b, and b for
  // a. Strongly connected components (Tarjan, SIAM J. Comput. 1, 1972).
  const std::vector<std::vector<std::string>>& cycles();

  // Draws the waits as arrows, those in cycles red. It has at most `count_max` names, those in
  // cycles first. For light and dark screens.
  std::string svg(std::string_view title, std::size_t count_max);

 private:
  struct Edge {
    std::size_t to;
    std::string label;
  };
  struct Node {
    std::string name;
    std::vector<Edge> edges;
    std::size_t component = 0;
    bool is_in_cycle = false;
  };
  class Search;
  class Drawing;

  std::size_t index_of(const std::string& name);
  std::vector<std::string> way_around(const std::vector<std::size_t>& component) const;
  bool is_of_cycle(const Node& from, const Edge& edge) const {
    return from.is_in_cycle && nodes_[edge.to].component == from.component;
  }

  std::vector<Node> nodes_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<std::vector<std::string>> cycles_;
  bool is_searched_ = false;
};

}  // namespace corolane::framework::detail
