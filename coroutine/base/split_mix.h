// SPDX-License-Identifier: MIT
// Deterministic pseudorandom numbers from a seed, for choices that need not be secret.
//
//   SplitMix64 random(seed);
//   const Duration delay = 100ms + std::chrono::milliseconds(random.below(50));
//
// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014):
// eight bytes of state, and good enough for delays and orders.
#pragma once

#include <cstdint>

namespace corolane {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // In [0, bound), nearly uniform; `bound` is at least 1.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace corolane
