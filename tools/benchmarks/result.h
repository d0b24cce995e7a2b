// SPDX-License-Identifier: MIT
// The result of a row's rounds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/benchmarks/row.h"

namespace corolane::bench {

// One value for each round.
using Series = std::vector<double>;
using NamedSeries = std::pair<std::string, Series>;
using NamedTraffic = std::pair<std::string, Traffic>;

// The factor by which ours was better than a peer, and the factor required.
struct Comparison {
  PeerBar bar;
  double times_better;

  bool holds() const { return times_better >= bar.times_better; }
};

struct RowResult {
  RowInfo info;
  Series ours = {};    // Empty when we have no value; then `ratios` is empty, too.
  Series limit = {};   // The same for the limit.
  Series ratios = {};  // ours / limit within a round.
  double allocations_per_op = 0;
  std::vector<NamedSeries> peers = {};  // The peers with a value.
  // Medians of "ours", "limit" and the peers, as far as they have traffic.
  std::vector<NamedTraffic> traffic = {};
};

enum class Verdict : std::uint8_t { holds, missed, no_bar, not_measured };

// Returns the bars against the peers with a value.
std::vector<Comparison> comparisons_of(const RowResult& result);

// Whether the median ratio and all other requirements of the row's bar hold.
Verdict verdict_of(const RowResult& result);

}  // namespace corolane::bench
