// SPDX-License-Identifier: MIT
// Faults of a cluster with edges: its nodes crash, drain, stand still and lose one another, and the
// sockets of clients break.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "coroutine/testing/random.h"
#include "framework/testing/cluster.h"

namespace corolane::sim {

class Weather {
 public:
  // The first ones are edges.
  static constexpr std::size_t node_count = 4;
  static constexpr std::size_t edge_count = 2;

  Weather(SimulatedCluster& cluster, std::uint64_t seed) : cluster_(cluster), dice_(seed) {}

  void strike() {
    const std::size_t node = dice_.below(node_count);
    switch (dice_.below(7)) {
      case 0:
        cluster_.crash(node);
        cluster_.run_for(dice_.below(3'000) * std::chrono::milliseconds(1));
        cluster_.restart(node);
        break;
      case 1:
        cluster_.stop(node);
        cluster_.run_until([&] { return !cluster_.is_running(node); }, std::chrono::seconds(30));
        cluster_.restart(node);
        break;
      case 2:
        cluster_.pause(node, dice_.below(9'000) * std::chrono::milliseconds(1));
        break;
      case 3:
        cluster_.partition({node}, {(node + 1) % node_count, (node + 2) % node_count});
        cluster_.run_for(dice_.below(8'000) * std::chrono::milliseconds(1));
        cluster_.heal();
        break;
      case 4:
        for (std::size_t other = 0; other < node_count; ++other) {
          if (other == node) continue;
          cluster_.fabric().reset_one(cluster_.node_host(node), cluster_.node_host(other));
        }
        break;
      default:
        for (int i = 0; i < 6; ++i) {
          cluster_.fabric().reset_one(cluster_.client_host(), cluster_.node_host(node));
        }
        break;
    }
    cluster_.run_for(dice_.below(2'000) * std::chrono::milliseconds(1));
  }

 private:
  SimulatedCluster& cluster_;
  test::Random dice_;
};

// The first and the last of the seeds that the variable of the environment names ("1 100"), or a
// few of them.
inline std::pair<std::uint64_t, std::uint64_t> seeds_to_play(const char* variable) {
  const char* const text = std::getenv(variable);
  const std::string seeds = text == nullptr ? "1 4" : text;
  char* end = nullptr;
  const std::uint64_t first = std::strtoull(seeds.c_str(), &end, 10);
  return {first, std::strtoull(end, nullptr, 10)};
}

}  // namespace corolane::sim
