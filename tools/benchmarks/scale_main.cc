// SPDX-License-Identifier: MIT
// The program behind `tools/bench scale`: a table with a column for each number of nodes.
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/arguments.h"
#include "tools/benchmarks/scale/measure.h"
#include "tools/benchmarks/scale/shards.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using tools::OptionRule;

constexpr int exit_missed = 1;
constexpr int exit_wrong_command_line = 2;
constexpr std::array option_rules = {OptionRule{.name = "--quick"}, OptionRule{.name = "--check"},
                                     OptionRule{.name = "--help"}};
constexpr std::array node_counts = {std::size_t{3}, std::size_t{10}, std::size_t{30},
                                    std::size_t{100}};
constexpr std::size_t quick_count = 2;  // The first of them.
// Larger clusters of four shards per node are not measured.
constexpr std::size_t shards_nodes_max = 10;

// The bars, at the largest number of nodes.
constexpr double read_bytes_max = 1e6;
constexpr double answers_ratio_max = 1.5;  // To the smallest number of nodes.
constexpr Duration placement_max = 2ms;
constexpr double spread_max = 1.1;
// The stacks of a node for four thousand subscriptions: a line's two ends to each other node.
constexpr double subscription_stacks_max = 100;

constexpr const char* help_text =
    "usage: scale_bench [options]; tools/bench scale --help explains them\n"
    "  --quick --check\n";

struct Figures : ScaleFigures {
  std::optional<ShardFigures> shards;
};

struct Row {
  const char* name;
  std::function<std::string(const Figures&)> value;
};

std::string number(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::string number(const Figures& of, double ShardFigures::* member) {
  return of.shards ? number((*of.shards).*member, 1) : "-";
}

std::vector<Row> rows() {
  return {
      {"nodes", [](const auto& of) { return std::to_string(of.nodes); }},
      {"read per node and failover, mean, kB",
       [](const auto& of) { return number(of.read_bytes_mean / 1e3, 1); }},
      {"read per node and failover, max, kB",
       [](const auto& of) { return number(of.read_bytes_max / 1e3, 1); }},
      {"all answer after a crash within, s",
       [](const auto& of) { return number(milliseconds(of.answers_after) / 1e3, 2); }},
      {"placement, ms", [](const auto& of) { return number(milliseconds(of.placement_took), 3); }},
      {"partitions, max by mean", [](const auto& of) { return number(of.spread, 3); }},
      {"connections per node", [](const auto& of) { return number(of.connections, 1); }},
      {"stacks per node", [](const auto& of) { return number(of.stacks, 1); }},
      {"4 shards: connections per node",
       [](const auto& of) { return number(of, &ShardFigures::connections); }},
      {"4 shards: stacks per node",
       [](const auto& of) { return number(of, &ShardFigures::stacks); }},
      {"4 shards: with 4,000 subscriptions",
       [](const auto& of) { return number(of, &ShardFigures::subscribed_stacks); }},
      {"memory per node, MB", [](const auto& of) { return number(of.memory_bytes / 1e6, 2); }},
      {"real time of this column, s",
       [](const auto& of) { return number(milliseconds(of.took) / 1e3, 1); }}};
}

void print(const std::vector<Figures>& all) {
  for (const Row& row : rows()) {
    std::printf("%-38s", row.name);
    for (const Figures& of : all) std::printf("%10s", row.value(of).c_str());
    std::printf("\n");
  }
}

bool holds(const char* bar, bool is_held) {
  std::printf("%s: %s\n", is_held ? "holds" : "missed", bar);
  return is_held;
}

bool check_bars(const std::vector<Figures>& all) {
  const Figures& few = all.front();
  const Figures& many = all.back();
  bool all_hold = true;
  bool need_few_stacks = true;
  for (const Figures& of : all) {
    const bool is_sound = of.is_sound && (!of.shards || of.shards->is_sound);
    if (!is_sound) all_hold = holds("every call is answered, and no invariant violated", false);
    need_few_stacks &=
        !of.shards || of.shards->subscribed_stacks - of.shards->stacks <= subscription_stacks_max;
  }
  all_hold &= holds("4,000 subscriptions take at most 100 stacks of a node", need_few_stacks);
  all_hold &=
      holds("a node reads at most 1 MB per failover", many.read_bytes_max <= read_bytes_max);
  all_hold &= holds(
      "all answer after at most 1.5 times the time with the fewest nodes",
      milliseconds(many.answers_after) <= answers_ratio_max * milliseconds(few.answers_after));
  all_hold &= holds("placement takes at most 2 ms", many.placement_took <= placement_max);
  all_hold &=
      holds("no node owns a tenth more partitions than the mean", many.spread <= spread_max);
  return all_hold;
}

int run(std::span<const char* const> words) {
  const auto arguments = tools::parse_arguments(words, option_rules);
  if (!arguments || !arguments->words.empty()) {
    const std::string why = arguments ? "unknown word \"" + arguments->words.front() + "\""
                                      : arguments.error().message();
    std::fprintf(stderr, "scale_bench: %s; see tools/bench --help\n", why.c_str());
    return exit_wrong_command_line;
  }
  if (arguments->has("--help")) {
    std::fputs(help_text, stdout);
    return 0;
  }
  std::vector<Figures> all;
  const std::size_t count = arguments->has("--quick") ? quick_count : node_counts.size();
  for (const std::size_t nodes : std::span(node_counts).first(count)) {
    std::fprintf(stderr, "scale_bench: %zu nodes\n", nodes);
    Figures figures{measure_scale(nodes), std::nullopt};
    if (nodes <= shards_nodes_max) figures.shards = measure_shards(nodes);
    all.push_back(figures);
  }
  print(all);
  const bool all_hold = check_bars(all);
  return all_hold || !arguments->has("--check") ? 0 : exit_missed;
}

}  // namespace
}  // namespace corolane::bench

int main(int argc, char** argv) {
  return corolane::bench::run(std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
}
