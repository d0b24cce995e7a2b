// SPDX-License-Identifier: MIT
// /stats: the node's counters as JSON.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <string_view>
#include <utility>

#include "coroutine/base/histogram.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack/stack_pool.h"
#include "framework/diagnostics/detail/stall_watchdog.h"
#include "framework/node/each_shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/telemetry/call_metrics.h"
#include "framework/telemetry/version.h"
#include "rpc/observe/call_outcome.h"
#include "rpc/server/server.h"

namespace corolane::framework::detail {
namespace {

using coroutine::Scheduler;
using coroutine::StackPool;

struct ShardStatistics {
  Scheduler::Statistics coroutines;
  Duration thread_cpu{};
  StackPool::Statistics stacks;
  std::size_t timer_count = 0;
  rpc::Server::Statistics rpc;
  std::size_t active_count = 0;  // Objects.
};

// The CPU time of the calling thread. Zero where CPU time is not measured, such as in a recorded
// node, since each replay would have another one.
Duration thread_cpu(const Scheduler& scheduler) {
  if (!scheduler.statistics().measures_cpu) return {};
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

ShardStatistics statistics_of(const Shard& shard) {
  const Scheduler& scheduler = shard.scheduler();
  return {.coroutines = scheduler.statistics(),
          .thread_cpu = thread_cpu(scheduler),
          .stacks = scheduler.stacks().statistics(),
          .timer_count = shard.scheduler().timers().armed_count(),
          .rpc = shard.rpc_server().statistics(),
          .active_count = shard.host() == nullptr ? 0 : shard.host()->statistics().active_count};
}

// --- The sums

// Peaks are summed, too: the sum is an upper bound of the node's peak.
void add(Scheduler::Statistics& sum, const Scheduler::Statistics& more) {
  sum.switch_ns.add(more.switch_ns);
  sum.create_ns.add(more.create_ns);
  sum.switch_count += more.switch_count;
  sum.created_count += more.created_count;
  sum.task_count += more.task_count;
  sum.ready_count += more.ready_count;
  sum.task_count_peak += more.task_count_peak;
  sum.turn_count += more.turn_count;
  sum.stray_exception_count += more.stray_exception_count;
  sum.stackless_count += more.stackless_count;
  sum.stackless_bytes += more.stackless_bytes;
  sum.loop_cpu += more.loop_cpu;
  sum.measures_cpu = sum.measures_cpu && more.measures_cpu;
}

void add(StackPool::Statistics& sum, const StackPool::Statistics& more) {
  sum.in_use_count += more.in_use_count;
  sum.idle_count += more.idle_count;
  sum.cold_count += more.cold_count;
  sum.in_use_count_peak += more.in_use_count_peak;
  sum.demand_count += more.demand_count;
  sum.count_max += more.count_max;
  sum.hit_count += more.hit_count;
  sum.miss_count += more.miss_count;
  sum.trimmed_count += more.trimmed_count;
  sum.refused_count += more.refused_count;
  sum.mapped_bytes += more.mapped_bytes;
  sum.committed_bytes += more.committed_bytes;
}

void add(rpc::Server::Statistics& sum, const rpc::Server::Statistics& more) {
  sum.connection_count += more.connection_count;
  sum.accepted_count += more.accepted_count;
  sum.running_count += more.running_count;
  sum.waiting_count += more.waiting_count;
  sum.stream_count += more.stream_count;
  sum.received_bytes += more.received_bytes;
  sum.sent_bytes += more.sent_bytes;
  for (std::size_t i = 0; i < sum.queue_delay_us.size(); ++i) {
    sum.queue_delay_us[i].add(more.queue_delay_us[i]);
  }
  sum.protocol_error_count += more.protocol_error_count;
  sum.stray_exception_count += more.stray_exception_count;
  for (const rpc::Server::MethodStatistics& method : more.methods) {
    const std::string_view name = method.full_name;
    const auto place = std::ranges::lower_bound(
        sum.methods, name, {}, [](const auto& known) { return std::string_view(known.full_name); });
    if (place == sum.methods.end() || place->full_name != name) {
      sum.methods.insert(place, method);
      continue;
    }
    place->call_count += method.call_count;
    place->error_count += method.error_count;
    for (std::size_t i = 0; i < code_count; ++i) {
      place->error_counts[i] += method.error_counts[i];
      place->fault_counts[i] += method.fault_counts[i];
    }
    place->refused_count += method.refused_count;
    place->refused_fault_count += method.refused_fault_count;
    place->running_count += method.running_count;
    place->latency_us.add(method.latency_us);
  }
}

void add(ShardStatistics& sum, const ShardStatistics& more) {
  add(sum.coroutines, more.coroutines);
  add(sum.stacks, more.stacks);
  sum.timer_count += more.timer_count;
  add(sum.rpc, more.rpc);
  sum.thread_cpu += more.thread_cpu;
  sum.active_count += more.active_count;
}

// --- The sections

// With buckets, histograms are listed as [[upper bound, count], ...], so that a client that reads
// them twice can compute the quantiles of the time between.
enum class Buckets : bool { no, yes };

Json to_json(const Histogram& histogram, Buckets buckets) {
  Json json = {{"count", histogram.count()},      {"mean", rounded(histogram.mean(), 10)},
               {"p50", histogram.quantile(0.5)},  {"p90", histogram.quantile(0.9)},
               {"p99", histogram.quantile(0.99)}, {"max", histogram.max()}};
  if (buckets == Buckets::no) return json;
  Json& counts = json["buckets"] = Json::array();
  histogram.for_each_bucket([&](std::uint64_t bound, std::uint64_t count) {
    counts.push_back(Json::array({bound, count}));
  });
  return json;
}

std::string_view to_string(StackPool::Guard guard) {
  return guard == StackPool::Guard::madvise ? "madvise" : "mprotect";
}

Json node_section(const Node& node) {
  return {{"name", node.config().name},
          {"version", version()},
          {"pid", process_id()},
          {"uptime_seconds", rounded(in_seconds(now() - node.created_at()), 1000)},
          {"stopping", node.is_stopping()},
          {"listen", net::to_string(node.endpoints().clients)},
          {"admin", net::to_string(node.endpoints().admin)}};
}

Json coroutine_section(const Scheduler::Statistics& statistics, Buckets buckets) {
  return {{"switch_ns", to_json(statistics.switch_ns, buckets)},
          {"create_ns", to_json(statistics.create_ns, buckets)},
          {"tasks", statistics.task_count},
          {"ready", statistics.ready_count},
          {"tasks_peak", statistics.task_count_peak},
          {"stackless", statistics.stackless_count},
          {"stackless_bytes", statistics.stackless_bytes},
          {"created", statistics.created_count},
          {"switches", statistics.switch_count},
          {"turns", statistics.turn_count},
          {"measures_cpu", statistics.measures_cpu},
          {"loop_cpu_seconds", in_seconds(statistics.loop_cpu)},
          {"stray_exceptions", statistics.stray_exception_count}};
}

Json stack_pool_section(const StackPool::Statistics& statistics) {
  const std::uint64_t acquired = statistics.hit_count + statistics.miss_count;
  const double hit_rate =
      acquired == 0 ? 0.0
                    : static_cast<double>(statistics.hit_count) / static_cast<double>(acquired);
  return {{"in_use", statistics.in_use_count},
          {"idle", statistics.idle_count},
          {"cold", statistics.cold_count},
          {"peak", statistics.in_use_count_peak},
          {"demand", statistics.demand_count},
          {"cap", statistics.count_max},
          {"hits", statistics.hit_count},
          {"misses", statistics.miss_count},
          {"hit_rate", rounded(hit_rate, 10'000)},
          {"trimmed", statistics.trimmed_count},
          {"refused", statistics.refused_count},
          {"mapped_bytes", statistics.mapped_bytes},
          {"committed_bytes", statistics.committed_bytes},
          {"guard", to_string(statistics.guard)},
          // Those of the process, which its pools share; zeros where they are not limited.
          {"shared_guards",
           {{"cap", statistics.shared_guards.count_max},
            {"taken", statistics.shared_guards.taken_count},
            {"pools", statistics.shared_guards.member_count}}}};
}

// Of its errors, those that are the fault of the server.
std::uint64_t fault_count(const rpc::Server::MethodStatistics& method) {
  return std::accumulate(method.fault_counts.begin(), method.fault_counts.end(), std::uint64_t{0});
}

Json rpc_section(const rpc::Server::Statistics& statistics, Buckets buckets) {
  Json queue_delays = Json::object();
  for (std::size_t i = 0; i < statistics.queue_delay_us.size(); ++i) {
    queue_delays[std::string(priority_names[i])] = to_json(statistics.queue_delay_us[i], buckets);
  }
  Json methods = Json::object();
  for (const rpc::Server::MethodStatistics& method : statistics.methods) {
    methods[method.full_name] = {
        {"calls", method.call_count},      {"errors", method.error_count},
        {"faults", fault_count(method)},   {"refused", method.refused_count},
        {"running", method.running_count}, {"latency_us", to_json(method.latency_us, buckets)}};
  }
  return {{"connections", statistics.connection_count},
          {"accepted", statistics.accepted_count},
          {"running", statistics.running_count},
          {"waiting", statistics.waiting_count},
          {"streams", statistics.stream_count},
          {"received_bytes", statistics.received_bytes},
          {"sent_bytes", statistics.sent_bytes},
          {"queue_delay_us", std::move(queue_delays)},
          {"protocol_errors", statistics.protocol_error_count},
          {"stray_exceptions", statistics.stray_exception_count},
          {"methods", std::move(methods)}};
}

Json shards_section(const FromShards<ShardStatistics>& shards) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < shards.parts.size(); ++i) {
    const ShardStatistics& shard = shards.parts[i];
    rows.push_back({{"shard", shards.numbers[i]},
                    {"thread_cpu_seconds", in_seconds(shard.thread_cpu)},
                    {"tasks", shard.coroutines.task_count},
                    {"switches", shard.coroutines.switch_count},
                    {"running_calls", shard.rpc.running_count},
                    {"connections", shard.rpc.connection_count},
                    {"active_objects", shard.active_count}});
  }
  return rows;
}

// Not part of the sums.
Json control_section(const Scheduler& scheduler) {
  const Scheduler::Statistics statistics = scheduler.statistics();
  const StackPool::Statistics stacks = scheduler.stacks().statistics();
  return {{"thread_cpu_seconds", in_seconds(thread_cpu(scheduler))},
          {"tasks", statistics.task_count},
          {"switches", statistics.switch_count},
          {"stacks_in_use", stacks.in_use_count},
          {"stacks_cap", stacks.count_max},
          {"stacks_refused", stacks.refused_count}};
}

Json stalls_section(const Node& node) {
  const auto statistics = node.stall_watchdog() == nullptr ? StallWatchdog::Statistics()
                                                           : node.stall_watchdog()->statistics();
  return {{"count", statistics.count},
          {"seconds", in_seconds(statistics.time)},
          {"are_watched", node.stall_watchdog() != nullptr}};
}

}  // namespace

Result<net::HttpResponse> stats_page(Node& node, const net::HttpRequest& request) {
  const Buckets buckets = request.query("buckets") == "yes" ? Buckets::yes : Buckets::no;
  auto shards = from_each_shard(node, statistics_of);
  if (!shards) return shards.error();
  Json rows = shards_section(*shards);
  const auto sum =
      added_up(std::move(shards->parts), [](auto& left, const auto& right) { add(left, right); });
  Json page = {{"node", node_section(node)},
               {"coroutine", coroutine_section(sum.coroutines, buckets)},
               {"stack_pool", stack_pool_section(sum.stacks)},
               {"timers", {{"armed", sum.timer_count}}},
               {"rpc", rpc_section(sum.rpc, buckets)},
               {"objects", {{"active", sum.active_count}}},
               {"stalls", stalls_section(node)},
               {"shards", std::move(rows)}};
  if (node.has_control_loop()) page["control"] = control_section(node.scheduler());
  name_silent_shards(page, node, shards->silent);
  return json_response(page);
}

}  // namespace corolane::framework::detail
