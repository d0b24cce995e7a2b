#include "framework/node_metrics.h"

#include <array>
#include <chrono>
#include <cstdint>

#include "coroutine/scheduler.h"
#include "coroutine/stack_pool.h"
#include "framework/call_metrics.h"
#include "framework/node.h"
#include "framework/version.h"

namespace corolane::framework {
namespace {

// From hot caches to a page fault and a preempted thread.
constexpr auto switch_bounds_ns = std::to_array<std::uint64_t>(
    {5, 10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000, 100'000, 1'000'000});

constexpr MetricBuckets switch_buckets = {.bounds = switch_bounds_ns, .units_per_base = 1e9};

void collect_node(const Node& node, MetricWriter& out) {
  out.gauge("corolane_node_info", "Constant 1; the labels say which node this is.",
            {{"name", node.config().name}, {"version", version()}}, 1);
  out.gauge("corolane_node_uptime_seconds", "Time since the node was made.", {},
            now() - node.created_at());
  out.gauge("corolane_node_stopping", "1 while the node stops, 0 before.", {},
            node.is_stopping() ? 1 : 0);
}

void collect_coroutines(coroutine::Scheduler& scheduler, MetricWriter& out) {
  const auto statistics = scheduler.statistics();
  out.gauge("corolane_coroutine_tasks", "Tasks that exist.", {}, statistics.task_count);
  out.gauge("corolane_coroutine_tasks_peak", "Most tasks that ever existed at once.", {},
            statistics.task_count_peak);
  out.counter("corolane_coroutine_tasks_created_total", "Tasks that were spawned.", {},
              statistics.created_count);
  out.counter("corolane_coroutine_switches_total", "Switches from one task to the next.", {},
              statistics.switch_count);
  out.counter("corolane_coroutine_turns_total", "Turns of the event loop.", {},
              statistics.turn_count);
  out.counter("corolane_coroutine_stray_exceptions_total",
              "Exceptions that escaped the function of a task.", {},
              statistics.stray_exception_count);
  out.histogram("corolane_coroutine_switch_seconds", "Cost of a switch, of a sample of them.", {},
                statistics.switch_ns, switch_buckets);
  out.histogram("corolane_coroutine_create_seconds", "Cost of spawning a task, of a sample.", {},
                statistics.create_ns, switch_buckets);
  out.gauge("corolane_coroutine_timers", "Timers that are armed.", {},
            scheduler.timers().armed_count());
}

void collect_stacks(const coroutine::StackPool& pool, MetricWriter& out) {
  const auto statistics = pool.statistics();
  constexpr std::string_view stacks_help =
      "Stacks that exist: in use, idle with their memory kept, cold without memory.";
  out.gauge("corolane_coroutine_stacks", stacks_help, {{"state", "in_use"}},
            statistics.in_use_count);
  out.gauge("corolane_coroutine_stacks", stacks_help, {{"state", "idle"}}, statistics.idle_count);
  out.gauge("corolane_coroutine_stacks", stacks_help, {{"state", "cold"}}, statistics.cold_count);
  out.gauge("corolane_coroutine_stacks_in_use_peak", "Most stacks that ever were in use at once.",
            {}, statistics.in_use_count_peak);
  out.gauge("corolane_coroutine_stacks_demand",
            "Stacks that the recent peak needed, as the pool remembers it.", {},
            statistics.demand_count);
  out.gauge("corolane_coroutine_stacks_max", "Stacks that may be in use and idle at once.", {},
            statistics.count_max);
  out.gauge("corolane_coroutine_stacks_mapped_bytes", "Address space of all stacks with guards.",
            {}, statistics.mapped_bytes);
  out.gauge("corolane_coroutine_stacks_committed_bytes",
            "Memory that the stacks in use and idle fill if each is used to its end.", {},
            statistics.committed_bytes);
  constexpr std::string_view acquired_help =
      "Stacks handed out: warm ones had their memory, cold ones had to get it.";
  out.counter("corolane_coroutine_stacks_acquired_total", acquired_help, {{"state", "warm"}},
              statistics.hit_count);
  out.counter("corolane_coroutine_stacks_acquired_total", acquired_help, {{"state", "cold"}},
              statistics.miss_count);
  out.counter("corolane_coroutine_stacks_trimmed_total", "Idle stacks whose memory was given back.",
              {}, statistics.trimmed_count);
  out.counter("corolane_coroutine_stacks_refused_total", "Stacks asked for and not to be had.", {},
              statistics.refused_count);
}

}  // namespace

void add_node_metrics(Metrics& metrics, const Node& node) {
  metrics.add([&node](MetricWriter& out) {
    collect_node(node, out);
    collect_coroutines(node.scheduler(), out);
    collect_stacks(node.scheduler().stacks(), out);
    collect_server(node.rpc_server().statistics(), out);
    node.telemetry().collect(out);
  });
}

}  // namespace corolane::framework
