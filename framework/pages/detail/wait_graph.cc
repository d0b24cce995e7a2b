// SPDX-License-Identifier: MIT
#include "framework/pages/detail/wait_graph.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "framework/pages/detail/svg.h"

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

// --- The drawing
//
// Names stand on a circle, so that few arrows cross other names.

class WaitGraph::Drawing {
 public:
  Drawing(const WaitGraph& graph, std::vector<std::size_t> shown)
      : graph_(graph), shown_(std::move(shown)) {
    radius_ = std::max(120.0, static_cast<double>(shown_.size()) * 40 / std::numbers::pi);
    for (std::size_t i = 0; i < shown_.size(); ++i) places_[shown_[i]] = i;
  }

  std::string text(std::string_view title) {
    for (const auto& [node, place] : places_) add_arrows(graph_.nodes_[node], place);
    for (const auto& [node, place] : places_) add_name(graph_.nodes_[node], place);
    const double size = 2 * (radius_ + margin);
    return svg_begin(size + 2 * side, size + head) + std::string(style) + svg_title(title) + body_ +
           "</svg>\n";
  }

 private:
  static constexpr double margin = 40;
  static constexpr double side = 160;  // For names.
  static constexpr double head = 36;
  static constexpr std::string_view style =
      "<style>.wait{stroke:#888;fill:none}.cycle{stroke:#d1242f;stroke-width:2;fill:none}"
      "circle{fill:#57606a}circle.cycle{fill:#d1242f;stroke:none}</style>\n"
      "<defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"16\" refY=\"5\" markerWidth=\"8\" "
      "markerHeight=\"8\" orient=\"auto-start-reverse\"><path d=\"M0 0 10 5 0 10z\" "
      "fill=\"context-stroke\"/></marker></defs>\n";

  struct Point {
    double x;
    double y;
  };

  Point point_of(std::size_t place) const {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(place) / static_cast<double>(shown_.size()) -
        std::numbers::pi / 2;
    return {.x = side + margin + radius_ + radius_ * std::cos(angle),
            .y = head + margin + radius_ + radius_ * std::sin(angle)};
  }

  // Arrows are bent, so that two nodes that wait for one another have an arrow each.
  void add_arrows(const Node& node, std::size_t place) {
    for (const Edge& edge : node.edges) {
      const auto to_place = places_.find(edge.to);
      if (to_place == places_.end()) continue;
      const Point from = point_of(place);
      const Point to = point_of(to_place->second);
      const Point middle = {.x = (from.x + to.x) / 2 + (to.y - from.y) / 6,
                            .y = (from.y + to.y) / 2 - (to.x - from.x) / 6};
      body_ += "<path class=\"";
      body_ += graph_.is_of_cycle(node, edge) ? "cycle" : "wait";
      body_ +=
          "\" marker-end=\"url(#head)\" d=\"M" + svg_number(from.x) + " " + svg_number(from.y) +
          " Q" + svg_number(middle.x) + " " + svg_number(middle.y) + " " + svg_number(to.x) + " " +
          svg_number(to.y) + "\"><title>" +
          svg_text(node.name + " waits for " + graph_.nodes_[edge.to].name + ": " + edge.label) +
          "</title></path>\n";
    }
  }

  void add_name(const Node& node, std::size_t place) {
    const Point at = point_of(place);
    const bool is_left = at.x < side + margin + radius_ - 1;
    body_ += "<circle r=\"5\" cx=\"" + svg_number(at.x) + "\" cy=\"" + svg_number(at.y) + "\"";
    body_ += node.is_in_cycle ? " class=\"cycle\"/>" : "/>";
    body_ += "<text x=\"" + svg_number(at.x + (is_left ? -10 : 10)) + "\" y=\"" +
             svg_number(at.y + 4) + "\"" + (is_left ? " text-anchor=\"end\"" : "") + ">" +
             svg_text(node.name) + "</text>\n";
  }

  const WaitGraph& graph_;
  const std::vector<std::size_t> shown_;
  double radius_;
  std::map<std::size_t, std::size_t> places_;
  std::string body_;
};

std::string WaitGraph::svg(std::string_view title, std::size_t count_max) {
  cycles();
  std::vector<std::size_t> shown(nodes_.size());
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = i;
  std::ranges::stable_sort(shown, [this](std::size_t a, std::size_t b) {
    return nodes_[a].is_in_cycle > nodes_[b].is_in_cycle;
  });
  shown.resize(std::min(shown.size(), count_max));
  return Drawing(*this, std::move(shown)).text(title);
}

}  // namespace corolane::framework::detail
