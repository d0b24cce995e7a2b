// SPDX-License-Identifier: MIT
// The order of turns of the coroutines in a ring.
#pragma once

#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace corolane::bench {

// Returns 0, 1, 2 ... or a permutation of them that is the same in every process.
inline std::vector<std::size_t> turn_order(std::size_t count, bool random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!random) return order;
  std::mt19937_64 engine(count);
  for (std::size_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[engine() % left]);
  }
  return order;
}

}  // namespace corolane::bench
