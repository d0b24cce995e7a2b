// How many calls may be tried again: as many as one in ten of those that were made lately.
//
// Without such a bound, servers that fail for load would get more of it (Google SRE book,
// "Addressing Cascading Failures": retry budgets).
#pragma once

#include <algorithm>

namespace corolane::rpc::detail {

class RetryBudget {
 public:
  void call_made() { tenths_ = std::min(tenths_ + 1, tenths_max); }

  // Takes one retry out of it, if there is one.
  bool take() {
    if (tenths_ < tenths_per_retry) return false;
    tenths_ -= tenths_per_retry;
    return true;
  }

 private:
  static constexpr int tenths_per_retry = 10;
  // Saved up by a hundred calls; a client begins with so much, since its first calls may fail too.
  static constexpr int tenths_max = 10 * tenths_per_retry;

  int tenths_ = tenths_max;
};

}  // namespace corolane::rpc::detail
