// SPDX-License-Identifier: MIT
#include "framework/node/detail/wait_watch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "coroutine/cancel_scope.h"
#include "coroutine/task.h"
#include "framework/cluster/cluster.h"
#include "framework/node/each_shard.h"
#include "framework/objects/detail/object_host.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// Shorter than the pause between two looks.
constexpr NodePeers::AskTimes watch_ask_times = {.each = 500ms, .all = 2s};
// More waits than that are one problem, which the longest ones show.
constexpr std::uint32_t watched_waits_max = 500;

constexpr coroutine::TaskOptions watch_task = {.purpose = coroutine::StackPool::Purpose::control};

WaitsRequest long_waits() {
  WaitsRequest request;
  request.set_count_max(watched_waits_max);
  request.set_milliseconds_min(
      std::chrono::duration_cast<std::chrono::milliseconds>(LongWaits::long_time).count());
  return request;
}

// One node tells a cycle: the one where the first of its waits is served.
std::optional<std::string> teller_of(const ClusterWaits& waits,
                                     const std::vector<std::string>& cycle) {
  std::optional<std::pair<std::string, std::string>> first;  // What is waited for, and where.
  const auto consider = [&](const std::string& name, const std::string& node) {
    if (std::ranges::find(cycle, name) == cycle.end()) return;
    if (!first || std::pair(name, node) < *first) first = {name, node};
  };
  for (const auto& [node, wait] : waits.calls) {
    if (!wait.is_running()) consider(object_name(wait.type(), wait.id()), node);
  }
  for (const auto& [node, wait] : waits.locks) consider(holder_name(wait, node), node);
  if (!first) return std::nullopt;
  return first->second;
}

}  // namespace

Result<void> WaitWatch::start() {
  auto spawned = tasks_.spawn("look for cycles of waits", [this] { run(); }, watch_task);
  if (!spawned) return spawned.error();
  return {};
}

// With one thread, as in a simulation, nothing runs by the clock alone: a call has to wait first.
void WaitWatch::run() {
  while (!coroutine::is_cancelled()) {
    const bool looks_for_locks = node_.has_control_loop();
    static_cast<void>(
        wanted_.wait(looks_for_locks ? Deadline::after(lock_interval) : Deadline::never()));
    wanted_.reset();
    if (!coroutine::is_cancelled()) look();
  }
}

void WaitWatch::look() {
  auto waits = waits_here(node_, long_waits());
  if (!waits) return;
  if (waits->calls.empty() && waits->locks.empty()) {
    ask_interval_ = ask_interval_min;
    if (!std::exchange(known_, {}).empty()) tell_shards({});
    return;
  }
  WaitGraph graph = graph_of(*waits);
  bool is_whole = waits->silent_shards.empty();
  if (graph.cycles().empty() && !waits->calls.empty()) {
    is_whole = ask_others(*waits) && is_whole;
    graph = graph_of(*waits);
  }
  if (!graph.cycles().empty()) ask_interval_ = ask_interval_min;
  tell(*waits, graph, is_whole);
}

bool WaitWatch::ask_others(ClusterWaits& waits) {
  if (node_.cluster() == nullptr || node_.cluster()->view()->members().size() < 2) return true;
  const TimePoint time = now();
  if (asked_at_ != TimePoint{} && time - asked_at_ < ask_interval_) return false;
  asked_at_ = time;
  ask_interval_ = std::min(2 * ask_interval_, ask_interval_max);
  add_waits_elsewhere(node_, long_waits(), watch_ask_times, waits);
  return waits.silent_nodes.empty();
}

void WaitWatch::tell(const ClusterWaits& waits, WaitGraph& graph, bool is_whole) {
  const auto& cycles = graph.cycles();
  std::set<std::string> found;
  for (const auto& cycle : cycles) {
    const std::string text = cycle_text(cycle);
    const bool is_new = !known_.contains(text);
    found.insert(text);
    if (!is_new || teller_of(waits, cycle) != node_.config().name) continue;
    ++cycle_count_;
    node_.log().warning("objects wait for one another", {{"cycle", text}});
  }
  // While the others are not asked again, a cycle over nodes is not seen, and lasts.
  if (cycles.empty() && !is_whole) return;
  if (found != std::exchange(known_, found)) tell_shards(cycles);
}

void WaitWatch::tell_shards(const std::vector<std::vector<std::string>>& cycles) const {
  std::map<std::string, std::string> by_name;
  for (const auto& cycle : cycles) {
    for (const std::string& name : cycle) by_name.emplace(name, cycle_text(cycle));
  }
  static_cast<void>(from_each_shard(node_, [by_name](Shard& shard) {
    if (shard.host() != nullptr) shard.host()->long_waits().set_cycles(by_name);
    return true;
  }));
}

}  // namespace corolane::framework::detail
