// SPDX-License-Identifier: MIT
// One engine of the standard library, and the source of its seed.
#include "coroutine/testing/random.h"

#include <cstdio>
#include <cstdlib>

namespace corolane::test {
namespace {

std::uint64_t choose_seed() {
  if (const char* const text = std::getenv("COROTEST_SEED")) {
    return std::strtoull(text, nullptr, 10);
  }
  return std::random_device{}();
}

}  // namespace

Random::Random() {
  const std::uint64_t seed = choose_seed();
  std::printf("[     SEED ] %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  engine_.seed(seed);
}

std::uint64_t Random::below(std::uint64_t bound) {
  return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(engine_);
}

Duration Random::up_to(Duration longest) {
  return Duration(std::uniform_int_distribution<Duration::rep>(0, longest.count())(engine_));
}

}  // namespace corolane::test
