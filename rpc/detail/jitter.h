// Random delays, so that those who failed together do not try again together.
#pragma once

#include <cstdint>

#include "coroutine/base/clock.h"

namespace corolane::rpc::detail {

// SplitMix64 (Steele, Lea, Flood 2014): small, and good enough for this.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) : state_(seed) {}

  // Between zero and `range`.
  Duration up_to(Duration range) {
    if (range <= Duration::zero()) return Duration::zero();
    return Duration(
        static_cast<Duration::rep>(next() % (static_cast<std::uint64_t>(range.count()) + 1)));
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  std::uint64_t state_;
};

}  // namespace corolane::rpc::detail
