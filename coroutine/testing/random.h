// SPDX-License-Identifier: MIT
// Random choices for tests, from a seed that is printed, so that a failure can be repeated.
//
//   Random random;
//   for (int i = 0; i < 100; ++i) channel_model.check(random.below(3), random.up_to(10ms));
#pragma once

#include <cstdint>
#include <random>

#include "coroutine/base/clock.h"

namespace corolane::test {

class Random {
 public:
  // Takes the seed from COROTEST_SEED, or a fresh one, and prints it.
  Random();
  // Prints nothing: a test that loops over many seeds reports the failing seed itself.
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // A seed for another Random.
  std::uint64_t any() { return engine_(); }
  // Uniform in [0, bound); `bound` is at least 1.
  std::uint64_t below(std::uint64_t bound);
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  // Uniform in [0, longest], to the nanosecond.
  Duration up_to(Duration longest);

 private:
  std::mt19937_64 engine_;
};

}  // namespace corolane::test
