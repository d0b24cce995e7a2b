// SPDX-License-Identifier: MIT
// The order of turns of the coroutines in a ring.
#pragma once

#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace corolane::bench {

// Permutes `order`, in the same way in every process.
inline void shuffle(std::vector<std::size_t>& order, std::mt19937_64& engine) {
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[engine() % left]);
  }
}

// Returns 0, 1, 2 ... or a permutation of them that is the same in every process.
inline std::vector<std::size_t> turn_order(std::size_t count, bool random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 engine(count);
  if (random) shuffle(order, engine);
  return order;
}

}  // namespace corolane::bench
