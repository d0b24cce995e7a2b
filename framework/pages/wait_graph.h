// Who waits for whom: found cycles, and a drawing.
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
  // `from` waits for `to`; what happens there is `label`. Names are shown as they are.
  void add(const std::string& from, const std::string& to, const std::string& label);

  // Each group of those that all wait for one another, as one way around it: "a", "b" stands for a
  // waits for b, who waits for a. Strongly connected components (Tarjan, SIAM J. Comput. 1, 1972).
  const std::vector<std::vector<std::string>>& cycles();

  // The waits of the graph with arrows, those of cycles red; at most `count_max` names, those of
  // cycles first. Light and dark.
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
