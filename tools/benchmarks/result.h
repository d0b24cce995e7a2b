// What the rounds of a row came to.
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

// How many times better than a peer ours was, and had to be.
struct Comparison {
  PeerBar bar;
  double times_better;

  bool holds() const { return times_better >= bar.times_better; }
};

struct RowResult {
  RowInfo info;
  Series ours = {};    // Empty when we have no value, and so are the ratios.
  Series limit = {};   // The same of the limit.
  Series ratios = {};  // ours / limit within a round.
  double allocations_per_op = 0;
  std::vector<NamedSeries> peers = {};  // Those that have a value.
  // Medians; of "ours", "limit" and the peers, as far as they had any.
  std::vector<NamedTraffic> traffic = {};
};

enum class Verdict : std::uint8_t { holds, missed, no_bar, not_measured };

// The bars against those peers that have a value.
std::vector<Comparison> comparisons_of(const RowResult& result);

// Whether the median ratio, and all else that the row's bar asks for, keep to it.
Verdict verdict_of(const RowResult& result);

}  // namespace corolane::bench
