// The bar against the median.
#include "test/bench/result.h"

#include "test/bench/statistics.h"

namespace corolane::bench {
namespace {

bool is_within(const Bar& bar, double ratio) {
  return bar.bound == Bound::at_most ? ratio <= *bar.ratio : ratio >= *bar.ratio;
}

}  // namespace

Verdict verdict_of(const RowResult& result) {
  const Bar& bar = result.info.bar;
  if (result.ratios.empty()) return Verdict::not_measured;
  if (!bar.ratio && !bar.no_allocations) return Verdict::no_bar;
  const bool ratio_holds = !bar.ratio || is_within(bar, median_of(result.ratios));
  const bool allocations_hold = !bar.no_allocations || result.allocations_per_op == 0;
  return ratio_holds && allocations_hold ? Verdict::holds : Verdict::missed;
}

}  // namespace corolane::bench
