// SPDX-License-Identifier: MIT
// Computes medians by sorting: the series are short.
#include "tools/benchmarks/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::bench {

double median_of(std::vector<double> values) {
  check(!values.empty(), "only a series that has values has a median");
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double mad_of(const std::vector<double>& values) {
  const double median = median_of(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - median));
  return median_of(std::move(deviations));
}

}  // namespace corolane::bench
