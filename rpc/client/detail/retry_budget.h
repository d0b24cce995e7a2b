// SPDX-License-Identifier: MIT
// Limits retries to one in ten of the recent calls.
//
// Without such a bound, retries would add load to servers that fail from overload (Google SRE book,
// "Addressing Cascading Failures": retry budgets).
#pragma once

#include <algorithm>

namespace corolane::rpc::detail {

class RetryBudget {
 public:
  void call_made() { tenths_ = std::min(tenths_ + 1, tenths_max); }

  // Takes one retry out of the budget; false when it is empty.
  bool take() {
    if (tenths_ < tenths_per_retry) return false;
    tenths_ -= tenths_per_retry;
    return true;
  }

 private:
  static constexpr int tenths_per_retry = 10;
  // The maximum, saved up by a hundred calls. A client begins with it, since its first calls may
  // fail too.
  static constexpr int tenths_max = 10 * tenths_per_retry;

  int tenths_ = tenths_max;
};

}  // namespace corolane::rpc::detail
