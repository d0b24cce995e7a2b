// SPDX-License-Identifier: MIT
// Notices objects and tasks that wait for one another in a cycle, over locks and nodes: none of
// them would go on before its deadline. Tells each cycle once, in the log and as a metric; the
// errors of the calls that were caught in it name it.
//
// It looks when a call has waited for a turn for a second (LongWaits), and every few seconds for
// tasks that wait for locks; other nodes are asked only while calls wait here, and less and less
// often as long as no cycle is found. Belongs to the thread of the node.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/node/detail/cluster_waits.h"

namespace corolane::framework {

class Node;

namespace detail {

class WaitWatch {
 public:
  // Between two looks for locks.
  static constexpr Duration lock_interval = std::chrono::seconds(5);
  // Between two questions to the other nodes: doubled after each one that found no cycle.
  static constexpr Duration ask_interval_min = std::chrono::seconds(3);
  static constexpr Duration ask_interval_max = std::chrono::minutes(1);

  // `node` outlives it.
  explicit WaitWatch(Node& node) : node_(node) {}
  WaitWatch(const WaitWatch&) = delete;
  WaitWatch& operator=(const WaitWatch&) = delete;

  // Watches in a task of its own. Fails without a stack.
  Result<void> start();
  void stop() { tasks_.cancel_and_join(); }
  // A call waits for long.
  void look_soon() { wanted_.set(); }

  // The cycles that this node has told.
  std::uint64_t cycle_count() const { return cycle_count_; }

 private:
  void run();
  void look();
  // Whether all have answered.
  bool ask_others(ClusterWaits& waits);
  // A look that is not whole does not see the end of a cycle.
  void tell(const ClusterWaits& waits, WaitGraph& graph, bool is_whole);
  void tell_shards(const std::vector<std::vector<std::string>>& cycles) const;

  Node& node_;
  coroutine::Event wanted_{"a call that waits for long"};
  std::set<std::string> known_;  // The cycles of the last look.
  Duration ask_interval_ = ask_interval_min;
  TimePoint asked_at_{};
  std::uint64_t cycle_count_ = 0;
  coroutine::TaskGroup tasks_;
};

}  // namespace detail
}  // namespace corolane::framework
