// SPDX-License-Identifier: MIT
// Writes SVG: a few shapes at computed places.
#include "tools/benchmarks/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <sstream>

#include "tools/benchmarks/report.h"
#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

constexpr double name_width = 190;
constexpr double chart_width = 620;
constexpr double figures_width = 260;
constexpr double legend_height = 56;
constexpr double row_height = 24;
constexpr double axis_height = 40;

// Distinct for colour-blind readers, too (Okabe and Ito, 2008).
constexpr std::array peer_colours = {"#0072b2", "#e69f00", "#56b4e9", "#cc79a7",
                                     "#8c6d31", "#000000", "#999999", "#5d3a9b"};

struct Scale {
  // Powers of ten at both ends.
  int least;
  int largest;

  double x_of(double multiple) const {
    const double position =
        std::clamp(std::log10(multiple), static_cast<double>(least), static_cast<double>(largest));
    return name_width + chart_width * (position - least) / (largest - least);
  }
};

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char each : text) {
    switch (each) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      default:
        safe += each;
    }
  }
  return safe;
}

// The values that the chart shows of a row. Zero, such as a hit share, has no place on its
// logarithmic scale.
std::vector<double> multiples_of(const RowResult& result) {
  std::vector<double> multiples = result.ratios;
  if (result.info.bar.ratio) multiples.push_back(*result.info.bar.ratio);
  if (!result.limit.empty()) {
    const double limit = median_of(result.limit);
    for (const auto& [name, series] : result.peers) multiples.push_back(median_of(series) / limit);
  }
  std::erase_if(multiples, [](double multiple) { return !(multiple > 0); });
  return multiples;
}

Scale scale_of(const std::vector<RowResult>& results) {
  double least = 0.1;
  double largest = 10;
  for (const RowResult& result : results) {
    for (const double multiple : multiples_of(result)) {
      least = std::min(least, multiple);
      largest = std::max(largest, multiple);
    }
  }
  return {.least = static_cast<int>(std::floor(std::log10(least))),
          .largest = static_cast<int>(std::ceil(std::log10(largest)))};
}

// A colour for each peer that has a value somewhere.
std::map<std::string, std::string> colours_of(const std::vector<RowResult>& results) {
  std::map<std::string, std::string> colours;
  for (const RowResult& result : results) {
    for (const auto& [name, series] : result.peers) {
      const std::size_t next = colours.size() % peer_colours.size();
      colours.try_emplace(name, peer_colours[next]);
    }
  }
  return colours;
}

class Drawing {
 public:
  Drawing(double width, double height) {
    text_ << R"(<svg xmlns="http://www.w3.org/2000/svg" width=")" << width << R"(" height=")"
          << height << R"(" font-family="sans-serif" font-size="12">)" << '\n';
    rectangle(0, 0, width, height, "#ffffff");
  }

  void rectangle(double x, double y, double width, double height, const char* colour) {
    text_ << R"(<rect x=")" << x << R"(" y=")" << y << R"(" width=")" << width << R"(" height=")"
          << height << R"(" fill=")" << colour << R"("/>)" << '\n';
  }
  void line(double x, double top, double bottom, const char* style) {
    text_ << R"(<line x1=")" << x << R"(" y1=")" << top << R"(" x2=")" << x << R"(" y2=")" << bottom
          << R"(" )" << style << "/>\n";
  }
  void dot(double x, double y, const std::string& colour, const std::string& title) {
    text_ << R"(<circle cx=")" << x << R"(" cy=")" << y << R"(" r="4.5" fill=")" << colour
          << R"(" stroke="#ffffff"><title>)" << escaped(title) << "</title></circle>\n";
  }
  void text(double x, double y, const char* anchor, const std::string& words) {
    text_ << R"(<text x=")" << x << R"(" y=")" << y << R"(" text-anchor=")" << anchor << R"(">)"
          << escaped(words) << "</text>\n";
  }
  std::string finish() {
    text_ << "</svg>\n";
    return text_.str();
  }

 private:
  std::ostringstream text_;
};

const char* colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "#8fce9b";
    case Verdict::missed:
      return "#f0938a";
    case Verdict::no_bar:
    case Verdict::not_measured:
      break;
  }
  return "#cccccc";
}

void draw_legend(Drawing& drawing, const std::map<std::string, std::string>& colours) {
  drawing.text(12, 20, "start", "multiples of the limit; ours:");
  double x = 185;
  for (const auto& [verdict, name] :
       {std::pair(Verdict::holds, "bar holds"), std::pair(Verdict::missed, "bar missed"),
        std::pair(Verdict::no_bar, "no bar")}) {
    drawing.rectangle(x, 10, 14, 12, colour_of(verdict));
    drawing.text(x + 20, 20, "start", name);
    x += 100;
  }
  drawing.line(x + 4, 8, 24, R"(stroke="#000000" stroke-width="3")");
  drawing.text(x + 14, 20, "start", "the bar");
  x = 190;
  if (!colours.empty()) drawing.text(12, 42, "start", "peers:");
  for (const auto& [name, colour] : colours) {
    drawing.dot(x, 38, colour, name);
    drawing.text(x + 9, 42, "start", name);
    x += 24 + 7.0 * static_cast<double>(name.size());
  }
}

// Returns "0.01", "0.1", "10".
std::string power_of_ten(int power) {
  std::ostringstream text;
  text << std::pow(10, power);
  return text.str();
}

void draw_axis(Drawing& drawing, const Scale& scale, double bottom) {
  for (int power = scale.least; power <= scale.largest; ++power) {
    const double x = scale.x_of(std::pow(10, power));
    drawing.line(x, legend_height, bottom,
                 power == 0 ? R"(stroke="#555555" stroke-width="1.5")" : R"(stroke="#dddddd")");
    drawing.text(x, bottom + 18, "middle", power == 0 ? "1 = limit" : power_of_ten(power));
  }
}

void draw_ours(Drawing& drawing, const RowResult& result, double top, const Scale& scale) {
  const double figures_x = name_width + chart_width + 12;
  const double baseline = top + row_height / 2 + 4;
  if (result.ratios.empty()) {
    drawing.text(figures_x, baseline, "start", "not measured");
    return;
  }
  const double ratio = median_of(result.ratios);
  const double start = scale.x_of(0);
  drawing.rectangle(start, top + 5, scale.x_of(ratio) - start, row_height - 10,
                    colour_of(verdict_of(result)));
  drawing.text(figures_x, baseline, "start",
               figure(median_of(result.ours)) + " against " + figure(median_of(result.limit)) +
                   " " + result.info.unit + ", ratio " + figure(ratio));
}

void draw_row(Drawing& drawing, const RowResult& result, double top, const Scale& scale,
              const std::map<std::string, std::string>& colours) {
  const double middle = top + row_height / 2;
  drawing.text(name_width - 10, middle + 4, "end", result.info.name);
  draw_ours(drawing, result, top, scale);
  if (result.info.bar.ratio) {
    drawing.line(scale.x_of(*result.info.bar.ratio), top + 2, top + row_height - 2,
                 R"(stroke="#000000" stroke-width="3")");
  }
  if (result.limit.empty()) return;
  const double limit = median_of(result.limit);
  for (const auto& [name, series] : result.peers) {
    const double value = median_of(series);
    drawing.dot(scale.x_of(value / limit), middle, colours.at(name),
                name + ": " + figure(value) + " " + result.info.unit);
  }
}

}  // namespace

std::string to_svg(const std::vector<RowResult>& results) {
  const Scale scale = scale_of(results);
  const auto colours = colours_of(results);
  const double bottom = legend_height + row_height * static_cast<double>(results.size());
  Drawing drawing(name_width + chart_width + figures_width, bottom + axis_height);
  draw_legend(drawing, colours);
  draw_axis(drawing, scale, bottom);
  double top = legend_height;
  for (const RowResult& result : results) {
    draw_row(drawing, result, top, scale, colours);
    top += row_height;
  }
  return drawing.finish();
}

}  // namespace corolane::bench
