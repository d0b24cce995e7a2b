// SPDX-License-Identifier: MIT
// Random delays, so that callers that failed together do not retry together.
#pragma once

#include <cstdint>

#include "coroutine/base/clock.h"
#include "coroutine/base/split_mix.h"

namespace corolane::rpc::detail {

class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) : numbers_(seed) {}

  // Between zero and `range`.
  Duration up_to(Duration range) {
    if (range <= Duration::zero()) return Duration::zero();
    return Duration(
        static_cast<Duration::rep>(numbers_.below(static_cast<std::uint64_t>(range.count()) + 1)));
  }

 private:
  SplitMix64 numbers_;
};

}  // namespace corolane::rpc::detail
