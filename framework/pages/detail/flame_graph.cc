// SPDX-License-Identifier: MIT
#include "framework/pages/detail/flame_graph.h"

#include <algorithm>

#include "coroutine/base/text.h"
#include "framework/pages/detail/flame_script.h"
#include "framework/pages/detail/svg.h"

namespace corolane::framework::detail {
namespace {

constexpr double width = 1200;
constexpr double row_height = 18;
constexpr double head_height = 36;
constexpr double letter_width = 6.6;
// A thinner box is invisible.
constexpr double box_width_min = 0.3;

constexpr std::string_view flame_style =
    "<style>.box{cursor:pointer;outline:0}.box rect{stroke:#fff;stroke-width:.5}.box "
    "text{fill:#111;"
    "pointer-events:none}.box:hover>rect,.box:focus>rect{stroke:#000;stroke-width:1.5}"
    ".under{opacity:.5}.found>rect{fill:#b45cff}"
    ".controls{display:flex;gap:8px;justify-content:flex-end;align-items:center;font:13px "
    "sans-serif;"
    "color:#444}.controls input,.controls button{font:inherit;padding:1px 6px;color-scheme:light "
    "dark}"
    ".controls input{width:170px}@media(prefers-color-scheme:dark){.box rect{stroke:#161b22}"
    ".box:hover>rect,.box:focus>rect{stroke:#fff}.controls{color:#aab}}</style>\n";

// A warm colour, the same for equal names.
std::string color_of(std::string_view name) {
  std::uint32_t hash = 2'166'136'261;  // FNV-1a.
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619;
  return "hsl(" + std::to_string(10 + hash % 45) + " 80% " + std::to_string(62 + hash / 64 % 12) +
         "%)";
}

// The part of the name that fits, cut between code points.
std::string fitting(std::string_view name, double box_width) {
  const auto room = static_cast<std::size_t>(std::max(box_width / letter_width - 1, 0.0));
  if (name.size() <= room) return std::string(name);
  if (room < 4) return "";
  return std::string(cut_utf8(name, room - 2)) + "..";
}

}  // namespace

void FlameGraph::add(const std::vector<std::string>& stack, std::uint64_t weight) {
  Node* node = &root_;
  node->weight += weight;
  for (const std::string& name : stack) {
    node = &node->children[name];
    node->weight += weight;
  }
  node->own += weight;
}

std::string FlameGraph::folded() const {
  std::string text;
  std::string above;
  add_folded(root_, above, text);
  return text;
}

void FlameGraph::add_folded(const Node& node, std::string& above, std::string& text) {
  if (node.own > 0) text.append(above).append(" ").append(std::to_string(node.own)).append("\n");
  const std::size_t size = above.size();
  for (const auto& [name, child] : node.children) {
    std::string part = escaped(name);
    std::ranges::replace(part, ';', ':');
    above.append(above.empty() ? "" : ";").append(part);
    add_folded(child, above, text);
    above.resize(size);
  }
}

// Draws boxes from the bottom up, as deep as they are visible.
class FlameGraph::Drawing {
 public:
  Drawing(const FlameGraph& graph, std::string_view unit)
      : total_(std::max<std::uint64_t>(graph.total(), 1)),
        unit_(unit),
        depth_(depth_of(graph.root_)) {}

  double height() const { return head_height + row_height * static_cast<double>(depth_); }

  // The box begins where `at` of the whole weight is to its left.
  void draw(std::string_view name, const Node& node, std::uint64_t at, std::size_t depth) {
    const double box_width = width_of(node.weight);
    if (box_width < box_width_min) return;
    const double left = width_of(at);
    const double top = height() - row_height * static_cast<double>(depth + 1);
    boxes.append("<g class=\"box\" tabindex=\"-1\" data-at=\"").append(std::to_string(at));
    boxes.append("\" data-weight=\"").append(std::to_string(node.weight)).append("\"><title>");
    boxes.append(svg_text(name)).append(": ").append(std::to_string(node.weight));
    boxes.append(" ").append(unit_).append(", ");
    boxes.append(svg_number(100 * static_cast<double>(node.weight) / static_cast<double>(total_)));
    boxes.append("%</title><rect x=\"")
        .append(svg_number(left))
        .append("\" y=\"")
        .append(svg_number(top));
    boxes.append("\" width=\"").append(svg_number(box_width)).append("\" height=\"");
    boxes.append(svg_number(row_height - 1)).append("\" rx=\"2\" fill=\"").append(color_of(name));
    boxes.append("\"/><text x=\"").append(svg_number(left + 3)).append("\" y=\"");
    boxes.append(svg_number(top + 13)).append("\">").append(svg_text(fitting(name, box_width)));
    boxes.append("</text></g>\n");
    for (const auto& [child_name, child] : node.children) {
      draw(child_name, child, at, depth + 1);
      at += child.weight;
    }
  }

  std::string boxes;

 private:
  double width_of(std::uint64_t weight) const {
    return width * static_cast<double>(weight) / static_cast<double>(total_);
  }
  std::size_t depth_of(const Node& node) const {
    std::size_t deepest = 0;
    for (const auto& [name, child] : node.children) {
      if (width_of(child.weight) >= box_width_min) deepest = std::max(deepest, depth_of(child));
    }
    return deepest + 1;
  }

  const std::uint64_t total_;
  const std::string_view unit_;
  const std::size_t depth_;
};

std::string FlameGraph::svg(std::string_view title, std::string_view unit) const {
  Drawing drawing(*this, unit);
  drawing.draw("all", root_, 0, 0);
  return svg_begin(width, drawing.height()) + std::string(flame_style) + svg_title(title) +
         std::string(flame_controls) + drawing.boxes + std::string(flame_script) + "</svg>\n";
}

}  // namespace corolane::framework::detail
