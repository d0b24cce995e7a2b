// SPDX-License-Identifier: MIT
#include "tools/bots/report.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

namespace corolane::tools::bots {
namespace {

class Table {
 public:
  void row(std::string_view name, const std::string& value) {
    std::array<char, 256> line;
    std::snprintf(line.data(), line.size(), "  %-28.*s %s\n", static_cast<int>(name.size()),
                  name.data(), value.c_str());
    text_ += line.data();
  }
  void heading(std::string_view text) { text_.append(text).append("\n"); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string fixed(double value, int decimals) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string number(const nlohmann::json& stats, const char* pointer, int decimals = 0,
                   double factor = 1) {
  const auto found = nlohmann::json::json_pointer(pointer);
  if (!stats.contains(found) || !stats[found].is_number()) return "?";
  return fixed(stats[found].get<double>() * factor, decimals);
}

std::string nanoseconds(const nlohmann::json& stats, const std::string& histogram) {
  const auto part = [&](const char* name) {
    return number(stats, (histogram + "/" + name).c_str());
  };
  const std::string count = part("count");
  if (count == "0") return "no sample yet";
  return "p50 " + part("p50") + " ns, p99 " + part("p99") + " ns, mean " + part("mean") + " ns (" +
         count + " samples)";
}

}  // namespace

std::string make_table(const Summary& summary, const Tally& tally, const std::string& node_stats) {
  const double seconds = std::chrono::duration<double>(summary.elapsed).count();
  Table table;
  table.heading("bots");
  table.row("games", std::to_string(summary.game_count));
  table.row("games at the same time", std::to_string(tally.playing_count_peak));
  table.row("connections", std::to_string(tally.connection_count));
  table.row("moves", std::to_string(tally.move_count));
  table.row("calls", std::to_string(tally.call_count));
  table.row("calls/s", fixed(static_cast<double>(tally.call_count) / seconds, 0));
  table.row("per call, p50", std::to_string(tally.call_us.quantile(0.5)) + " us");
  table.row("per call, p99", std::to_string(tally.call_us.quantile(0.99)) + " us");
  table.row("elapsed", fixed(seconds, 2) + " s");

  const nlohmann::json stats = nlohmann::json::parse(node_stats, nullptr, false);
  if (!stats.is_object()) return table.text();
  table.heading("node, as its own endpoint reports");
  table.row("coroutines created", number(stats, "/coroutine/created"));
  table.row("coroutines alive, peak", number(stats, "/coroutine/tasks_peak"));
  table.row("stacks in use, idle",
            number(stats, "/stack_pool/in_use") + ", " + number(stats, "/stack_pool/idle"));
  table.row("stacks reused (hit rate)", number(stats, "/stack_pool/hit_rate", 2, 100) + " %");
  table.row("cost of a switch", nanoseconds(stats, "/coroutine/switch_ns"));
  table.row("cost of a creation", nanoseconds(stats, "/coroutine/create_ns"));
  return table.text();
}

}  // namespace corolane::tools::bots
