// SPDX-License-Identifier: MIT
#include "framework/pages/detail/wait_drawing.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <ranges>
#include <utility>
#include <vector>

#include "coroutine/base/text.h"
#include "framework/pages/detail/svg.h"

namespace corolane::framework::detail {
namespace {

constexpr double wait_margin = 16;
constexpr double wait_head = 36;    // For the title.
constexpr double char_width = 6.7;  // Of the font of svg_begin(), rounded up.
constexpr double padding = 8;
constexpr double box_height = 36;
constexpr double row_gap = 14;
constexpr double column_gap = 72;
constexpr std::size_t name_size_max = 56;
constexpr std::size_t label_size_max = 64;
constexpr std::size_t title_lines_max = 20;

constexpr std::string_view wait_style =
    "<style>.box{fill:#f6f8fa;stroke:#57606a}.box.cycle{stroke:#d1242f;stroke-width:2}"
    ".what{fill:#57606a}.arrow{fill:none;stroke:#8c959f}"
    ".arrow.cycle{stroke:#d1242f;stroke-width:2}"
    "@media(prefers-color-scheme:dark){.box{fill:#21262d;stroke:#8b949e}.what{fill:#8b949e}}"
    "</style>\n"
    "<defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" "
    "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 10 5 0 10z\" "
    "fill=\"context-stroke\"/></marker></defs>\n";

// Keeps both ends, which tell most: a type, and the end of an id.
std::string shortened(std::string_view text, std::size_t size_max) {
  std::string whole = escaped(text);
  if (whole.size() <= size_max) return whole;
  const std::size_t half = (size_max - 3) / 2;
  return whole.substr(0, half) + "..." + whole.substr(whole.size() - half);
}

double width_of(std::string_view text) { return char_width * static_cast<double>(text.size()); }

struct Box {
  std::size_t node = 0;  // In the graph.
  std::string name;
  std::string what;
  std::size_t column = 0;
  std::size_t row = 0;
  double x = 0;
  double y = 0;
  double width = 0;
  std::vector<std::size_t> to;  // Boxes, each once; without itself.

  double right() const { return x + width; }
  double middle() const { return y + box_height / 2; }
};

class Drawing {
 public:
  Drawing(const WaitGraph& graph, const std::vector<std::size_t>& shown) : graph_(graph) {
    for (const std::size_t node : shown) {
      by_node_[node] = boxes_.size();
      boxes_.push_back(make_box(node));
    }
    for (Box& box : boxes_) find_arrows(box);
    choose_columns();
    choose_rows();
    place();
  }

  std::string text(std::string_view title) {
    std::string arrows;
    for (const Box& box : boxes_) arrows += arrows_of(box);
    std::string all =
        svg_begin(width_ + 2 * wait_margin, height_ + wait_head + wait_margin + below_);
    all.append(wait_style).append(svg_title(title)).append(arrows);
    for (const Box& box : boxes_) all += box_text(box);
    return all + "</svg>\n";
  }

 private:
  const WaitGraph::Node& node_of(const Box& box) const { return graph_.nodes()[box.node]; }

  Box make_box(std::size_t index) const {
    const WaitGraph::Node& node = graph_.nodes()[index];
    Box box{.node = index, .name = shortened(node.name, name_size_max), .what = {}, .to = {}};
    if (!node.edges.empty()) {
      box.what = shortened(node.edges.front().label, label_size_max);
      if (node.edges.size() > 1) box.what += " +" + std::to_string(node.edges.size() - 1);
    }
    box.width = std::max(width_of(box.name), width_of(box.what)) + 2 * padding;
    return box;
  }

  void find_arrows(Box& box) const {
    for (const WaitGraph::Edge& edge : node_of(box).edges) {
      const auto found = by_node_.find(edge.to);
      const bool is_new = found != by_node_.end() && found->second != by_node_.at(box.node) &&
                          std::ranges::find(box.to, found->second) == box.to.end();
      if (is_new) box.to.push_back(found->second);
    }
  }

  // The longest way from the boxes for which no other one waits; arrows that close a cycle are left
  // out. Depth first, without recursion.
  void choose_columns() {
    enum class Mark : std::uint8_t { fresh, open, done };
    std::vector<Mark> marks(boxes_.size(), Mark::fresh);
    std::vector<std::size_t> order;  // What is waited for comes first.
    for (std::size_t start : starts()) {
      if (marks[start] != Mark::fresh) continue;
      std::vector<std::pair<std::size_t, std::size_t>> path = {{start, 0}};
      marks[start] = Mark::open;
      while (!path.empty()) {
        auto& [at, next] = path.back();
        if (next == boxes_[at].to.size()) {
          marks[at] = Mark::done;
          order.push_back(at);
          path.pop_back();
          continue;
        }
        const std::size_t to = boxes_[at].to[next++];
        if (marks[to] == Mark::open) back_arrows_.push_back({at, to});
        if (marks[to] != Mark::fresh) continue;
        marks[to] = Mark::open;
        path.emplace_back(to, 0);
      }
    }
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      for (const std::size_t to : boxes_[*at].to) {
        if (is_back(*at, to)) continue;
        boxes_[to].column = std::max(boxes_[to].column, boxes_[*at].column + 1);
      }
    }
  }

  // Those for which no other one waits come first.
  std::vector<std::size_t> starts() const {
    std::vector<std::size_t> awaited(boxes_.size(), 0);
    for (const Box& box : boxes_) {
      for (const std::size_t to : box.to) awaited[to] = 1;
    }
    std::vector<std::size_t> all(boxes_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::ranges::stable_sort(all, {}, [&](std::size_t i) { return awaited[i]; });
    return all;
  }

  bool is_back(std::size_t from, std::size_t to) const {
    return std::ranges::find(back_arrows_, std::pair(from, to)) != back_arrows_.end();
  }

  // Each stands near what waits for it.
  void choose_rows() {
    std::map<std::size_t, std::vector<std::size_t>> columns;
    for (std::size_t i = 0; i < boxes_.size(); ++i) columns[boxes_[i].column].push_back(i);
    std::vector<double> sum(boxes_.size(), 0);
    std::vector<double> count(boxes_.size(), 0);
    for (auto& [column, all] : columns) {
      std::ranges::stable_sort(
          all, {}, [&](std::size_t i) { return count[i] == 0 ? 0 : sum[i] / count[i]; });
      for (std::size_t row = 0; row < all.size(); ++row) {
        boxes_[all[row]].row = row;
        for (const std::size_t to : boxes_[all[row]].to) {
          sum[to] += static_cast<double>(row);
          count[to] += 1;
        }
      }
    }
  }

  // Each column is as wide as its widest box.
  void place() {
    std::map<std::size_t, double> widths;
    for (const Box& box : boxes_) {
      widths[box.column] = std::max(widths[box.column], box.width);
    }
    for (Box& box : boxes_) {
      box.x = wait_margin;
      for (const auto& [column, width] : widths) {
        if (column < box.column) box.x += width + column_gap;
      }
      box.y = wait_head + static_cast<double>(box.row) * (box_height + row_gap);
      width_ = std::max(width_, box.right() - wait_margin);
      height_ = std::max(height_, box.y + box_height - wait_head);
    }
    below_ = back_arrows_.empty() ? 0 : 24 + 10 * static_cast<double>(back_arrows_.size());
  }

  std::string arrows_of(const Box& box) const {
    std::string text;
    const std::size_t from = by_node_.at(box.node);
    for (const std::size_t to : box.to) {
      const auto& edges = node_of(box).edges;
      const auto edge = std::ranges::find(edges, boxes_[to].node, &WaitGraph::Edge::to);
      const bool is_of_cycle = graph_.is_of_cycle(node_of(box), *edge);
      text += std::string("<path class=\"arrow") + (is_of_cycle ? " cycle" : "") +
              "\" marker-end=\"url(#head)\" d=\"" +
              (is_back(from, to) ? way_back(from, to) : way(box, boxes_[to])) + "\"><title>" +
              svg_text(node_of(box).name + " waits for " + node_of(boxes_[to]).name + ": " +
                       edge->label) +
              "</title></path>\n";
    }
    return text;
  }

  static std::string way(const Box& from, const Box& to) {
    const double bend = column_gap / 2;
    return "M" + svg_number(from.right()) + " " + svg_number(from.middle()) + " C" +
           svg_number(from.right() + bend) + " " + svg_number(from.middle()) + " " +
           svg_number(to.x - bend) + " " + svg_number(to.middle()) + " " + svg_number(to.x) + " " +
           svg_number(to.middle());
  }

  // Around all boxes, below them.
  std::string way_back(std::size_t from, std::size_t to) const {
    const auto found = std::ranges::find(back_arrows_, std::pair(from, to));
    const auto number = static_cast<double>(found - back_arrows_.begin());
    const Box& first = boxes_[from];
    const Box& last = boxes_[to];
    const double low = wait_head + height_ + 14 + 10 * number;
    const double right = first.right() + 18 + 6 * number;
    const double left = last.x - 12;
    return "M" + svg_number(first.right()) + " " + svg_number(first.middle() + 8) + " H" +
           svg_number(right) + " V" + svg_number(low) + " H" + svg_number(left) + " V" +
           svg_number(last.middle() + 8) + " H" + svg_number(last.x);
  }

  std::string box_text(const Box& box) const {
    const std::string red = node_of(box).is_in_cycle ? " cycle" : "";
    const std::string x = svg_number(box.x + padding);
    std::string text = "<g><title>" + svg_text(node_of(box).name);
    for (const WaitGraph::Edge& edge : node_of(box).edges | std::views::take(title_lines_max)) {
      text += "\n" + svg_text(graph_.nodes()[edge.to].name + ": " + edge.label);
    }
    text += "</title><rect class=\"box" + red + "\" rx=\"4\" x=\"" + svg_number(box.x) + "\" y=\"" +
            svg_number(box.y) + "\" width=\"" + svg_number(box.width) + "\" height=\"" +
            svg_number(box_height) + "\"/><text x=\"" + x + "\" y=\"" +
            svg_number(box.y + (box.what.empty() ? 22 : 15)) + "\">" + svg_text(box.name) +
            "</text>";
    if (!box.what.empty()) {
      text += "<text class=\"what\" x=\"" + x + "\" y=\"" + svg_number(box.y + 29) + "\">" +
              svg_text(box.what) + "</text>";
    }
    return text + "</g>\n";
  }

  const WaitGraph& graph_;
  std::vector<Box> boxes_;
  std::map<std::size_t, std::size_t> by_node_;
  std::vector<std::pair<std::size_t, std::size_t>> back_arrows_;
  double width_ = 320;  // Room for the title.
  double height_ = 0;
  double below_ = 0;
};

}  // namespace

std::string drawing_of(WaitGraph& graph, std::string_view title, std::size_t count_max) {
  graph.cycles();
  std::vector<std::size_t> shown(graph.nodes().size());
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = i;
  std::ranges::stable_sort(shown, [&graph](std::size_t a, std::size_t b) {
    return graph.nodes()[a].is_in_cycle > graph.nodes()[b].is_in_cycle;
  });
  shown.resize(std::min(shown.size(), count_max));
  return Drawing(graph, shown).text(title);
}

}  // namespace corolane::framework::detail
