// What the rounds of a row came to.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test/bench/row.h"

namespace corolane::bench {

// One value for each round.
using Series = std::vector<double>;
using NamedSeries = std::pair<std::string, Series>;

struct RowResult {
  RowInfo info;
  Series ours = {};    // Empty when we have no value, and so are the ratios.
  Series limit = {};   // The same of the limit.
  Series ratios = {};  // ours / limit within a round.
  double allocations_per_op = 0;
  std::vector<NamedSeries> peers = {};  // Those that have a value.
};

enum class Verdict : std::uint8_t { holds, missed, no_bar, not_measured };

// Whether the median ratio, and the allocations, keep to the row's bar.
Verdict verdict_of(const RowResult& result);

}  // namespace corolane::bench
