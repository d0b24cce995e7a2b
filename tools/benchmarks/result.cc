// SPDX-License-Identifier: MIT
// Compares the median with the bar.
#include "tools/benchmarks/result.h"

#include <algorithm>

#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

bool is_within(const Bar& bar, double ratio) {
  return bar.bound == Bound::at_most ? ratio <= *bar.ratio : ratio >= *bar.ratio;
}

// The median over the rounds that both took part in.
double times_better(Bound bound, const Series& ours, const Series& peer) {
  Series times;
  for (std::size_t round = 0; round < std::min(ours.size(), peer.size()); ++round) {
    times.push_back(bound == Bound::at_most ? peer[round] / ours[round]
                                            : ours[round] / peer[round]);
  }
  return median_of(std::move(times));
}

bool keeps_to_latency(const RowResult& result) {
  if (!result.info.bar.p99_us_max) return true;
  const auto ours = std::ranges::find(result.traffic, "ours", &NamedTraffic::first);
  return ours != result.traffic.end() && ours->second.p99_us <= *result.info.bar.p99_us_max;
}

}  // namespace

std::vector<Comparison> comparisons_of(const RowResult& result) {
  std::vector<Comparison> comparisons;
  if (result.ours.empty()) return comparisons;
  for (const PeerBar& bar : result.info.bar.peers) {
    const auto peer = std::ranges::find(result.peers, bar.peer, &NamedSeries::first);
    if (peer == result.peers.end()) continue;
    comparisons.push_back(
        {.bar = bar,
         .times_better = times_better(result.info.bar.bound, result.ours, peer->second)});
  }
  return comparisons;
}

Verdict verdict_of(const RowResult& result) {
  const Bar& bar = result.info.bar;
  if (result.ratios.empty()) return Verdict::not_measured;
  const std::vector<Comparison> comparisons = comparisons_of(result);
  if (!bar.ratio && !bar.no_allocations && !bar.p99_us_max && comparisons.empty()) {
    return Verdict::no_bar;
  }
  const bool ratio_holds = !bar.ratio || is_within(bar, median_of(result.ratios));
  const bool allocations_hold = !bar.no_allocations || result.allocations_per_op == 0;
  const bool peers_hold = std::ranges::all_of(comparisons, &Comparison::holds);
  return ratio_holds && allocations_hold && peers_hold && keeps_to_latency(result)
             ? Verdict::holds
             : Verdict::missed;
}

}  // namespace corolane::bench
