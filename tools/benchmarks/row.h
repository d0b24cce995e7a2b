// SPDX-License-Identifier: MIT
// A row of the benchmark: one operation, measured for us, for the limit that its bar names, and for
// every peer that supports it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

enum class Bound : std::uint8_t { at_most, at_least };

// The requirement against a peer, if it takes part.
struct PeerBar {
  std::string peer;
  double times_better;  // The least ratio: the peer's value over ours, or ours over the peer's; see
                        // Bound.
};

// The requirements on the ratio, ours / limit, and on ours itself.
struct Bar {
  Bound bound = Bound::at_most;  // Also says whether smaller or larger values are better.
  std::optional<double> ratio = {};
  bool no_allocations = false;
  std::optional<double> p99_us_max = {};  // For our traffic.
  std::vector<PeerBar> peers = {};
};

struct RowInfo {
  std::string name;
  std::string unit = {};        // Per operation: "ns", "bytes", "%".
  std::string operation = {};   // Describes one operation.
  std::string limit_name = {};  // Describes the limit.
  Bar bar = {};
};

struct Contestant {
  std::string name;
  Measure measure;
};

struct Row {
  RowInfo info;
  Measure ours;
  Measure limit;
  std::vector<Contestant> peers = {};
  // The row takes half a minute, and its figure repeats within a thousandth: one round is enough,
  // and a quick run omits the peers.
  bool costly = false;
  // Multiplies the rounds of ours and the limit where the bar is tighter than the variation between
  // processes with different addresses. No bar is about the peers.
  std::size_t round_factor = 1;
};

}  // namespace corolane::bench
