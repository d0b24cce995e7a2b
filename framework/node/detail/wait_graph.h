// SPDX-License-Identifier: MIT
// The graph of waits between objects and tasks, and the cycles in it.
//
//   WaitGraph graph;
//   graph.add("Guild(\"a\")", "Guild(\"b\")", "Guild/Join waits for its turn");
//   for (const auto& cycle : graph.cycles()) warn(cycle);
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace corolane::framework::detail {

class WaitGraph {
 public:
  // `from` waits for `to`; `label` describes the call. Names are shown as they are.
  void add(const std::string& from, const std::string& to, const std::string& label);

  // A cycle for each group that all wait for one another: {"a", "b"} when a waits for b, and b for
  // a. Strongly connected components (Tarjan, SIAM J. Comput. 1, 1972).
  const std::vector<std::vector<std::string>>& cycles();

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
  // By the order in which they were added. The last two members are valid after cycles().
  const std::vector<Node>& nodes() const { return nodes_; }
  // Whether that wait of that node is part of a cycle.
  bool is_of_cycle(const Node& from, const Edge& edge) const {
    return from.is_in_cycle && nodes_[edge.to].component == from.component;
  }

 private:
  class Search;

  std::size_t index_of(const std::string& name);
  std::vector<std::string> way_around(const std::vector<std::size_t>& component) const;

  std::vector<Node> nodes_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::vector<std::vector<std::string>> cycles_;
  bool is_searched_ = false;
};

}  // namespace corolane::framework::detail
