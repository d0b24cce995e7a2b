// A row of the benchmark: one operation, measured for us, for the limit that its bar names, and
// for every peer that has such an operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

enum class Bound : std::uint8_t { at_most, at_least };

// What has to hold against a peer, when it takes part.
struct PeerBar {
  std::string peer;
  double times_better;  // At least: the peer's value over ours, or ours over the peer's; see Bound.
};

// What has to hold of the ratio, ours / limit, and of ours beside that.
struct Bar {
  Bound bound = Bound::at_most;  // Says of values too which are better: smaller, or larger ones.
  std::optional<double> ratio = {};
  bool no_allocations = false;
  std::optional<double> p99_us_max = {};  // Of our traffic.
  std::vector<PeerBar> peers = {};
};

struct RowInfo {
  std::string name;
  std::string unit = {};        // "ns", "bytes", "%": of one operation.
  std::string operation = {};   // What one operation is.
  std::string limit_name = {};  // What the limit is.
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
  // Takes half a minute for a figure that repeats within a thousandth: one round is enough, and a
  // quick run leaves the peers out.
  bool costly = false;
  // Where the bar is closer than one process's luck with its addresses: so many rounds for one.
  std::size_t round_factor = 1;
};

}  // namespace corolane::bench
