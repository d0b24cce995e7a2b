// SPDX-License-Identifier: MIT
// Partitions whose owner seems to be another one than the table says, and when each is read again.
//
// While a node is away, all calls of its objects doubt its partitions, on all nodes, for seconds:
// the directory must not be read for each of them. So a partition in doubt is read at once, and if
// that brings nothing new, later and later. Not thread-safe.
//
//   doubts.raise({placement, 17}, what_is_known);
//   for (const auto& place : doubts.take_due(60)) {
//     read(place);
//     doubts.settle(place, what_is_known_now);
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/split_mix.h"
#include "framework/cluster/cluster_view.h"
#include "framework/directory/directory.h"
#include "framework/wire/partition.h"

namespace corolane::framework::detail {

class Doubts {
 public:
  struct Options {
    // The pause after a read without news; it doubles up to the maximum. A random part of it, up to
    // a quarter, is left out, so that nodes that doubt the same do not ask together.
    Duration pause_min = std::chrono::milliseconds(250);
    Duration pause_max = std::chrono::seconds(2);
    // Seeds the jitter; 0 takes a seed from the system.
    std::uint64_t random_seed = 0;
  };
  using Place = std::pair<Placement, Partition>;
  // The owner of a partition, as far as the node knows.
  struct Known {
    Directory::Revision revision = 0;  // The last change of the ownership.
    bool is_there = false;             // The owner is a member.

    friend bool operator==(const Known&, const Known&) = default;
  };

  explicit Doubts(const Options& options);

  // Wants that partition to be read. A doubt about something else than the last one begins anew.
  void raise(const Place& place, const Known& known);
  // When the next one is due; TimePoint::max(): none is.
  TimePoint next_due() const;
  // Those that are due now, at most `count_max`, all of one placement. Each is then settled.
  std::vector<Place> take_due(std::size_t count_max);
  // A read has ended, or failed; `known` is the knowledge after it.
  void settle(const Place& place, const Known& known);
  void clear() { doubts_.clear(); }

 private:
  struct Doubt {
    Known known;
    Duration pause{};        // After the last read; zero: there was none.
    TimePoint not_before{};  // The time of the next read.
    bool is_raised = false;
  };

  void forget_old();

  const Options options_;
  SplitMix64 random_;
  std::map<Place, Doubt> doubts_;
};

}  // namespace corolane::framework::detail
