// SPDX-License-Identifier: MIT
#include "tools/corolane/bench/tally.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/corolane/figures.h"

namespace corolane::tools::cli::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t bar_width = 40;
constexpr std::array quantiles = {0.5, 0.9, 0.99, 0.999};
constexpr std::array<const char*, 4> quantile_names = {"p50", "p90", "p99", "p99.9"};

std::uint64_t us_between(TimePoint begin, TimePoint end) {
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(end - begin).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0));
}

std::string text_of_us(std::uint64_t us) { return time_text(static_cast<double>(us) * 1e3); }

std::string quantiles_text(const Histogram& histogram) {
  std::string text;
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    text.append(quantile_names[i]).append(" ");
    text.append(text_of_us(histogram.quantile(quantiles[i]))).append("  ");
  }
  return text + "max " + text_of_us(histogram.max());
}

// A bar for each power of two.
std::string bars_text(const Histogram& histogram) {
  std::map<int, std::uint64_t> counts;
  histogram.for_each_bucket([&](std::uint64_t bound, std::uint64_t count) {
    counts[static_cast<int>(std::bit_width(bound))] += count;
  });
  if (counts.empty()) return "";
  std::uint64_t most = 0;
  for (const auto& [width, count] : counts) most = std::max(most, count);
  std::string text;
  for (int width = counts.begin()->first; width <= counts.rbegin()->first; ++width) {
    const std::uint64_t count = counts.contains(width) ? counts.at(width) : 0;
    const std::string bound = text_of_us(std::uint64_t{1} << width);
    text += "  below " + std::string(10 - std::min<std::size_t>(bound.size(), 10), ' ') + bound +
            "  " + std::string((count * bar_width + most - 1) / most, '#');
    text += (count == 0 ? "" : " ") + std::to_string(count) + "\n";
  }
  return text;
}

Json quantiles_json(const Histogram& histogram) {
  Json json = {{"count", histogram.count()}, {"mean", histogram.mean()}};
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    json[quantile_names[i]] = histogram.quantile(quantiles[i]);
  }
  json["max"] = histogram.max();
  Json& buckets = json["buckets"] = Json::array();
  histogram.for_each_bucket(
      [&](std::uint64_t bound, std::uint64_t count) { buckets.push_back({bound, count}); });
  return json;
}

}  // namespace

void Tally::count(TimePoint due, TimePoint sent, TimePoint end, const Result<void>& outcome) {
  latency_us_.record(us_between(due, end));
  late_us_.record(us_between(due, sent));
  if (!outcome) ++errors_[static_cast<std::size_t>(outcome.error().code())];
}

std::uint64_t Tally::errors() const {
  return std::accumulate(errors_.begin(), errors_.end(), std::uint64_t{0});
}

std::string report_text(const Ran& ran, const Tally& tally) {
  const double per_second = ran.seconds > 0 ? static_cast<double>(tally.calls()) / ran.seconds : 0;
  std::string text = ran.method + ", " + count_text(ran.rate) + "/s were to come\n";
  text += "calls      " + std::to_string(tally.calls()) + " in " + age_text(ran.seconds) + ", " +
          count_text(per_second) + "/s\n";
  if (ran.unanswered > 0) {
    text += "unanswered " + std::to_string(ran.unanswered) + ", still without a reply at the end\n";
  }
  if (tally.unsent() > 0) {
    text += "not sent   " + std::to_string(tally.unsent()) + ": too many were in flight\n";
  }
  text += "errors     " + std::to_string(tally.errors());
  for (std::size_t code = 0; code < code_count; ++code) {
    const std::uint64_t count = tally.errors_of(static_cast<Code>(code));
    if (count == 0) continue;
    text.append("  ").append(to_string(static_cast<Code>(code))).append(" ");
    text += std::to_string(count);
  }
  text += "\nlatency    " + quantiles_text(tally.latency_us()) + "\n";
  text += "sent late  " + quantiles_text(tally.late_us()) + "\n";
  return text + bars_text(tally.latency_us());
}

std::string report_json(const Ran& ran, const Tally& tally) {
  Json errors = Json::object();
  for (std::size_t code = 0; code < code_count; ++code) {
    const std::uint64_t count = tally.errors_of(static_cast<Code>(code));
    if (count > 0) errors[std::string(to_string(static_cast<Code>(code)))] = count;
  }
  return Json({{"method", ran.method},
               {"rate", ran.rate},
               {"seconds", ran.seconds},
               {"calls", tally.calls()},
               {"unanswered", ran.unanswered},
               {"unsent", tally.unsent()},
               {"errors", std::move(errors)},
               {"latency_us", quantiles_json(tally.latency_us())},
               {"sent_late_us", quantiles_json(tally.late_us())}})
             .dump(2) +
         "\n";
}

}  // namespace corolane::tools::cli::bench
