// SPDX-License-Identifier: MIT
// A token bucket: how far a client is above a rate (https://en.wikipedia.org/wiki/Token_bucket).
//
//   TokenBucket calls(/*per_second=*/100);
//   if (calls.take(1, now()) < 0) slow_down_for(calls.debt_seconds());
//
// It holds at most what it gains in a second, and may be overdrawn.
#pragma once

#include <algorithm>
#include <chrono>

#include "coroutine/base/clock.h"

namespace corolane::rpc::detail {

class TokenBucket {
 public:
  // 0: nothing is limited.
  explicit TokenBucket(double per_second) : per_second_(per_second), balance_(per_second) {}

  // Returns the balance, in tokens; a negative one is a debt.
  double take(double count, TimePoint time) {
    if (per_second_ == 0) return 0;
    if (time > filled_at_) {
      const std::chrono::duration<double> passed = time - filled_at_;
      balance_ = std::min(per_second_, balance_ + passed.count() * per_second_);
      filled_at_ = time;
    }
    balance_ -= count;
    return balance_;
  }

  // Takes over the balance of the same client's bucket elsewhere.
  void set_balance(double balance, TimePoint time) {
    balance_ = std::min(per_second_, balance);
    filled_at_ = time;
  }

  // The debt in seconds of the rate; 0 without one.
  double debt_seconds() const { return balance_ < 0 ? -balance_ / per_second_ : 0; }

 private:
  double per_second_;
  double balance_;
  TimePoint filled_at_{};
};

}  // namespace corolane::rpc::detail
