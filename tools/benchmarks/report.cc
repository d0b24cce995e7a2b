// SPDX-License-Identifier: MIT
// Columns are as wide as their widest cell; numbers are aligned to the right.
#include "tools/benchmarks/report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

using nlohmann::ordered_json;

using Cells = std::vector<std::string>;

constexpr const char* nothing = "-";

std::string median_figure(const Series& series) {
  return series.empty() ? nothing : figure(median_of(series));
}

std::string deviation_figure(const Series& series) {
  return series.empty() ? nothing : figure(mad_of(series));
}

// The bars against peers have a separate table.
std::string bar_text(const RowResult& result) {
  const Bar& bar = result.info.bar;
  std::string text;
  if (bar.ratio) text = (bar.bound == Bound::at_most ? "<= " : ">= ") + figure(*bar.ratio);
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (bar.no_allocations) add("no allocs");
  if (bar.p99_us_max) add("p99 <= " + figure(*bar.p99_us_max) + " us");
  if (!comparisons_of(result).empty()) add("peers");
  return text.empty() ? nothing : text;
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::missed:
      return "MISSED";
    case Verdict::no_bar:
      return nothing;
    case Verdict::not_measured:
      break;
  }
  return "NOT MEASURED";
}

// The columns that are aligned to the left: those before `left_until`, and from `left_from` on.
struct Alignment {
  std::size_t left_until;
  std::size_t left_from;
};

std::string aligned(const std::vector<Cells>& lines, Alignment alignment) {
  std::vector<std::size_t> widths(lines.front().size());
  for (const Cells& cells : lines) {
    for (std::size_t column = 0; column < cells.size(); ++column) {
      widths[column] = std::max(widths[column], cells[column].size());
    }
  }
  std::string text;
  for (const Cells& cells : lines) {
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const bool left = column < alignment.left_until || column >= alignment.left_from;
      const std::string padding(widths[column] - cells[column].size(), ' ');
      line += left ? cells[column] + padding : padding + cells[column];
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string bars_table(const std::vector<RowResult>& results) {
  std::vector<Cells> lines{
      {"row", "unit", "ours", "+-", "limit", "+-", "ratio", "+-", "allocs", "bar", ""}};
  for (const RowResult& result : results) {
    const bool measured = !result.ratios.empty();
    lines.push_back({result.info.name, result.info.unit, median_figure(result.ours),
                     deviation_figure(result.ours), median_figure(result.limit),
                     deviation_figure(result.limit), median_figure(result.ratios),
                     deviation_figure(result.ratios),
                     measured ? figure(result.allocations_per_op) : nothing, bar_text(result),
                     verdict_text(verdict_of(result))});
  }
  return aligned(lines, {.left_until = 2, .left_from = 9});
}

std::string peers_table(const std::vector<RowResult>& results) {
  std::set<std::string> names;
  for (const RowResult& result : results) {
    for (const auto& [name, series] : result.peers) names.insert(name);
  }
  if (names.empty()) return "";
  std::vector<Cells> lines{{"row", "unit", "ours"}};
  lines.front().insert(lines.front().end(), names.begin(), names.end());
  for (const RowResult& result : results) {
    if (result.peers.empty()) continue;
    Cells cells{result.info.name, result.info.unit, median_figure(result.ours)};
    for (const std::string& name : names) {
      const auto peer = std::ranges::find(result.peers, name, &NamedSeries::first);
      cells.push_back(peer == result.peers.end() ? nothing : median_figure(peer->second));
    }
    lines.push_back(std::move(cells));
  }
  return "\n" + aligned(lines, {.left_until = 2, .left_from = lines.front().size()});
}

std::string comparisons_table(const std::vector<RowResult>& results) {
  std::vector<Cells> lines{{"row", "against", "times better", "bar", ""}};
  for (const RowResult& result : results) {
    for (const Comparison& compared : comparisons_of(result)) {
      lines.push_back({result.info.name, compared.bar.peer, figure(compared.times_better),
                       ">= " + figure(compared.bar.times_better),
                       verdict_text(compared.holds() ? Verdict::holds : Verdict::missed)});
    }
  }
  if (lines.size() == 1) return "";
  return "\n" + aligned(lines, {.left_until = 2, .left_from = 3});
}

std::string traffic_table(const std::vector<RowResult>& results) {
  std::vector<Cells> lines{{"row", "", "ops/s", "p50 us", "p99 us"}};
  for (const RowResult& result : results) {
    for (const auto& [name, traffic] : result.traffic) {
      lines.push_back({result.info.name, name, figure(traffic.ops_per_second),
                       figure(traffic.p50_us), figure(traffic.p99_us)});
    }
  }
  if (lines.size() == 1) return "";
  return "\n" + aligned(lines, {.left_until = 2, .left_from = lines.front().size()});
}

ordered_json median_or_null(const Series& series) {
  return series.empty() ? ordered_json() : ordered_json(median_of(series));
}

ordered_json to_json(const RowResult& result) {
  const Bar& bar = result.info.bar;
  const Verdict verdict = verdict_of(result);
  ordered_json row = {
      {"name", result.info.name},
      {"ours", median_or_null(result.ours)},
      {"limit", median_or_null(result.limit)},
      {"ratio", median_or_null(result.ratios)},
      {"unit", result.info.unit},
      {"peers", ordered_json::object()},
      {"operation", result.info.operation},
      {"limit_name", result.info.limit_name},
      {"bar", bar.ratio ? ordered_json(*bar.ratio) : ordered_json()},
      {"bar_is", bar.bound == Bound::at_most ? "at_most" : "at_least"},
      {"holds",
       verdict == Verdict::no_bar ? ordered_json() : ordered_json(verdict == Verdict::holds)},
      {"rounds", result.ratios.size()}};
  for (const auto& [name, series] : result.peers) row["peers"][name] = median_of(series);
  for (const Comparison& compared : comparisons_of(result)) {
    row["times_better"][compared.bar.peer] = {{"value", compared.times_better},
                                              {"bar", compared.bar.times_better},
                                              {"holds", compared.holds()}};
  }
  for (const auto& [name, traffic] : result.traffic) {
    row["traffic"][name] = {{"ops_per_second", traffic.ops_per_second},
                            {"p50_us", traffic.p50_us},
                            {"p99_us", traffic.p99_us}};
  }
  if (result.ratios.empty()) return row;
  row["mad"] = mad_of(result.ours);
  row["min"] = std::ranges::min(result.ours);
  row["max"] = std::ranges::max(result.ours);
  row["limit_mad"] = mad_of(result.limit);
  row["ratio_mad"] = mad_of(result.ratios);
  row["allocations_per_op"] = result.allocations_per_op;
  return row;
}

}  // namespace

std::string figure(double value) {
  const double size = value < 0 ? -value : value;
  const int decimals = size == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string to_table(const std::vector<RowResult>& results) {
  return bars_table(results) + peers_table(results) + comparisons_table(results) +
         traffic_table(results);
}

std::string to_json(const std::vector<RowResult>& results) {
  ordered_json rows = ordered_json::array();
  for (const RowResult& result : results) rows.push_back(to_json(result));
  // Names are ours and valid UTF-8; invalid bytes would be replaced, without an exception.
  return ordered_json{{"rows", rows}}.dump(2, ' ', false, ordered_json::error_handler_t::replace) +
         '\n';
}

}  // namespace corolane::bench
