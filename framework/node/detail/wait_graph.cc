// SPDX-License-Identifier: MIT
#include "framework/node/detail/wait_graph.h"

#include <algorithm>
#include <optional>

namespace corolane::framework::detail {

void WaitGraph::add(const std::string& from, const std::string& to, const std::string& label) {
  const std::size_t from_index = index_of(from);
  const std::size_t to_index = index_of(to);
  nodes_[from_index].edges.push_back({to_index, label});
  is_searched_ = false;
}

std::size_t WaitGraph::index_of(const std::string& name) {
  const auto [place, is_new] = by_name_.try_emplace(name, nodes_.size());
  if (is_new) nodes_.push_back({.name = name, .edges = {}});
  return place->second;
}

// --- Cycles

// Works without recursion: a chain of calls may be deeper than a task's stack allows.
class WaitGraph::Search {
 public:
  explicit Search(std::vector<Node>& nodes) : nodes_(nodes), marks_(nodes.size()) {}

  // Calls found(indices) for each component.
  template <typename F>
  void run(F found) {
    for (std::size_t start = 0; start < nodes_.size(); ++start) {
      if (marks_[start].number == 0) search_from(start, found);
    }
  }

 private:
  struct Mark {
    std::size_t number = 0;  // In the order of discovery, from 1; 0: not yet.
    std::size_t low = 0;     // The least number reachable on the stack.
    std::size_t next_edge = 0;
    bool is_on_stack = false;
  };

  template <typename F>
  void search_from(std::size_t start, F& found) {
    std::vector<std::size_t> path = {enter(start)};
    while (!path.empty()) {
      const std::size_t at = path.back();
      Mark& mark = marks_[at];
      if (mark.next_edge < nodes_[at].edges.size()) {
        const std::size_t to = nodes_[at].edges[mark.next_edge++].to;
        if (marks_[to].number == 0) {
          path.push_back(enter(to));
        } else if (marks_[to].is_on_stack) {
          mark.low = std::min(mark.low, marks_[to].number);
        }
        continue;
      }
      if (mark.low == mark.number) leave_component(at, found);
      path.pop_back();
      if (!path.empty()) marks_[path.back()].low = std::min(marks_[path.back()].low, mark.low);
    }
  }

  std::size_t enter(std::size_t node) {
    marks_[node] = {.number = ++last_number_, .low = last_number_, .is_on_stack = true};
    stack_.push_back(node);
    return node;
  }

  template <typename F>
  void leave_component(std::size_t root, F& found) {
    std::vector<std::size_t> component;
    for (std::size_t node = nodes_.size(); node != root;) {
      node = stack_.back();
      stack_.pop_back();
      marks_[node].is_on_stack = false;
      nodes_[node].component = root;
      component.push_back(node);
    }
    found(component);
  }

  std::vector<Node>& nodes_;
  std::vector<Mark> marks_;
  std::vector<std::size_t> stack_;
  std::size_t last_number_ = 0;
};

const std::vector<std::vector<std::string>>& WaitGraph::cycles() {
  if (is_searched_) return cycles_;
  is_searched_ = true;
  cycles_.clear();
  Search(nodes_).run([this](const std::vector<std::size_t>& component) {
    const std::size_t first = component.front();
    const auto& edges = nodes_[first].edges;
    const bool waits_for_itself = std::ranges::find(edges, first, &Edge::to) != edges.end();
    if (component.size() == 1 && !waits_for_itself) return;
    for (const std::size_t node : component) nodes_[node].is_in_cycle = true;
    cycles_.push_back(way_around(component));
  });
  std::ranges::sort(cycles_);
  return cycles_;
}

// The shortest way from the first node by name back to it: breadth first.
std::vector<std::string> WaitGraph::way_around(const std::vector<std::size_t>& component) const {
  const std::size_t first =
      *std::ranges::min_element(component, {}, [this](std::size_t i) { return nodes_[i].name; });
  std::map<std::size_t, std::size_t> came_from;
  std::vector<std::size_t> wave = {first};
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < wave.size() && !last; ++i) {
    for (const Edge& edge : nodes_[wave[i]].edges) {
      if (edge.to == first) {
        last = wave[i];
        break;
      }
      if (nodes_[edge.to].component != nodes_[first].component) continue;
      if (came_from.try_emplace(edge.to, wave[i]).second) wave.push_back(edge.to);
    }
  }
  std::vector<std::string> way;
  for (std::size_t node = last.value_or(first); node != first; node = came_from.at(node)) {
    way.push_back(nodes_[node].name);
  }
  way.push_back(nodes_[first].name);
  std::ranges::reverse(way);
  return way;
}

}  // namespace corolane::framework::detail
