// SPDX-License-Identifier: MIT
#include "framework/node/shard_metrics.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "coroutine/scheduler.h"
#include "coroutine/stack/stack_pool.h"
#include "framework/node/detail/client_door.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/push_hub.h"
#include "framework/telemetry/call_metrics.h"
#include "framework/telemetry/telemetry.h"
#include "net/http/http_server.h"
#include "rpc/server/server.h"

namespace corolane::framework {
namespace {

// Bounds from hot caches to a page fault and a preempted thread.
constexpr auto switch_bounds_ns = std::to_array<std::uint64_t>(
    {5, 10, 20, 50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000, 100'000, 1'000'000});

// Includes the lateness of a room with 20 ticks a second that missed one, and goes far beyond.
constexpr auto lateness_bounds_us = std::to_array<std::uint64_t>(
    {100, 500, 1'000, 5'000, 10'000, 50'000, 100'000, 500'000, 1'000'000, 10'000'000});

constexpr MetricBuckets lateness_buckets = {.bounds = lateness_bounds_us, .units_per_base = 1e6};
constexpr MetricBuckets switch_buckets = {.bounds = switch_bounds_ns, .units_per_base = 1e9};

void collect_scheduler(coroutine::Scheduler& scheduler, MetricWriter& out) {
  const auto statistics = scheduler.statistics();
  out.gauge("corolane_coroutine_tasks", "Tasks that exist.", {}, statistics.task_count);
  out.gauge("corolane_coroutine_tasks_peak", "Peak number of tasks; the sum of the shards' peaks.",
            {}, statistics.task_count_peak);
  out.counter("corolane_coroutine_tasks_created_total", "Tasks that were spawned.", {},
              statistics.created_count);
  out.counter("corolane_coroutine_switches_total", "Switches from one task to the next.", {},
              statistics.switch_count);
  out.counter("corolane_coroutine_turns_total", "Turns of the event loop.", {},
              statistics.turn_count);
  out.counter("corolane_coroutine_stray_exceptions_total",
              "Exceptions that escaped the function of a task.", {},
              statistics.stray_exception_count);
  out.counter("corolane_coroutine_deep_stacks_total",
              "Measured stacks of which at most a tenth was left.", {},
              statistics.deep_stack_count);
  out.gauge("corolane_coroutine_stackless", "Stackless coroutines that exist.", {},
            statistics.stackless_count);
  out.gauge("corolane_coroutine_stackless_bytes",
            "Memory kept for stackless coroutines and timers.", {}, statistics.stackless_bytes);
  out.histogram("corolane_coroutine_switch_seconds", "Cost of a switch, for a sample of them.", {},
                statistics.switch_ns, switch_buckets);
  out.histogram("corolane_coroutine_create_seconds",
                "Cost of spawning a task, for a sample of them.", {}, statistics.create_ns,
                switch_buckets);
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
  out.gauge("corolane_coroutine_stacks_in_use_peak",
            "Peak number of stacks in use; the sum of the shards' peaks.", {},
            statistics.in_use_count_peak);
  out.gauge("corolane_coroutine_stacks_demand",
            "Stacks that the recent peak needed, as the pool estimates it.", {},
            statistics.demand_count);
  out.gauge("corolane_coroutine_stacks_max", "Stacks that may be in use and idle at once.", {},
            statistics.count_max);
  out.gauge("corolane_coroutine_stacks_mapped_bytes", "Address space of all stacks with guards.",
            {}, statistics.mapped_bytes);
  out.gauge("corolane_coroutine_stacks_committed_bytes",
            "Memory of the stacks in use and idle if each were fully used.", {},
            statistics.committed_bytes);
  constexpr std::string_view acquired_help =
      "Stacks handed out: warm ones kept their memory, cold ones had to allocate it.";
  out.counter("corolane_coroutine_stacks_acquired_total", acquired_help, {{"state", "warm"}},
              statistics.hit_count);
  out.counter("corolane_coroutine_stacks_acquired_total", acquired_help, {{"state", "cold"}},
              statistics.miss_count);
  out.counter("corolane_coroutine_stacks_trimmed_total", "Idle stacks whose memory was given back.",
              {}, statistics.trimmed_count);
  out.counter("corolane_coroutine_stacks_refused_total", "Requests for a stack that were refused.",
              {}, statistics.refused_count);
}

void collect_objects(const detail::HostedType& type, MetricWriter& out) {
  const detail::ObjectStatistics statistics = type.statistics();
  const std::initializer_list<MetricLabel> labels = {{"type", type.name()}};
  out.gauge("corolane_objects_active", "Objects that are active here.", labels,
            statistics.active_count);
  out.gauge("corolane_objects_memory_bytes", "Approximate memory of the objects and their states.",
            labels, statistics.memory_bytes);
  out.gauge("corolane_objects_unsaved", "Objects that have changed and wait to be stored.", labels,
            statistics.unsaved_count);
  out.counter("corolane_objects_calls_total", "Calls that have reached an object or its host.",
              labels, statistics.call_count);
  out.counter("corolane_objects_calls_refused_total",
              "Calls that were refused because too many already wait for the object.", labels,
              statistics.refused_count);
  out.counter("corolane_objects_calls_moved_total",
              "Calls that were redirected to the object's owner.", labels, statistics.moved_count);
  out.counter("corolane_objects_stray_exceptions_total",
              "Calls that ended with an exception of the object.", labels,
              statistics.stray_exception_count);
  out.counter("corolane_objects_activations_total", "Objects that were loaded or made.", labels,
              statistics.activation_count);
  out.counter("corolane_objects_deactivations_total",
              "Objects that were stored and deactivated, idle or moving to another node.", labels,
              statistics.deactivation_count);
  out.counter("corolane_objects_destroyed_total", "Objects that were destroyed.", labels,
              statistics.destroyed_count);
  out.counter("corolane_objects_lost_writes_total",
              "Objects of which the store has lost writes that it had confirmed.", labels,
              statistics.lost_write_count);
  out.gauge("corolane_objects_outbox_calls",
            "Calls in the outboxes of active objects that are not acknowledged yet.", labels,
            static_cast<double>(statistics.outbox_count));
  out.counter("corolane_objects_outbox_deliveries_total",
              "Calls from outboxes that were acknowledged.", labels, statistics.delivery_count);
  out.counter("corolane_objects_outbox_delivery_errors_total",
              "Deliveries from outboxes that failed and are repeated.", labels,
              statistics.failed_delivery_count);
  out.counter("corolane_objects_saves_total", "Changed objects that were stored.", labels,
              statistics.save_count);
  out.counter("corolane_objects_save_errors_total",
              "Attempts to store a changed object that failed.", labels,
              statistics.failed_save_count);
  out.counter("corolane_objects_ticks_total", "Runs of the timers of objects.", labels,
              statistics.alarms.tick_count);
  out.counter("corolane_objects_ticks_missed_total",
              "Runs of timers whose time passed while the object was busy.", labels,
              statistics.alarms.missed_tick_count);
  out.counter("corolane_objects_reminders_total", "Runs of the reminders of objects.", labels,
              statistics.alarms.reminder_count);
  out.counter("corolane_objects_reminder_errors_total",
              "Runs of reminders that failed and will be retried.", labels,
              statistics.alarms.failed_reminder_count);
  out.counter("corolane_objects_publications_total", "Messages that objects have published.",
              labels, statistics.publication_count);
}

void collect_subscriptions(const detail::PushHub& push, MetricWriter& out) {
  const auto statistics = push.feeds().statistics();
  out.gauge("corolane_subscriptions", "Subscriptions of this node, to objects of any node.", {},
            statistics.subscription_count);
  out.counter("corolane_subscriptions_behind_total",
              "Times that a subscriber fell behind the kept backlog and received a gap.", {},
              statistics.behind_count);
  out.counter("corolane_publications_serialized_total",
              "Publications serialised for other nodes: each once, however many follow its object.",
              {}, push.outlets().statistics().serialised_count);
}

void collect_door(const net::OnePort::Statistics& statistics, MetricWriter& out) {
  constexpr std::string_view begun_help =
      "Client connections whose first bytes were understood, by what they speak; inside of TLS "
      "they count for both.";
  constexpr std::string_view unserved_help =
      "Client connections closed at their first bytes: nobody serves on that port what they speak, "
      "or they speak something `unknown` or, in five seconds, `nothing`.";
  for (const auto& kind : statistics.kinds) {
    out.counter("corolane_client_connections_begun_total", begun_help, {{"speaks", kind.name}},
                kind.accepted_count);
    out.counter("corolane_client_connections_unserved_total", unserved_help,
                {{"speaks", kind.name}}, kind.refused_count);
  }
  out.counter("corolane_client_connections_unserved_total", unserved_help, {{"speaks", "unknown"}},
              statistics.unknown_count);
  out.counter("corolane_client_connections_unserved_total", unserved_help, {{"speaks", "nothing"}},
              statistics.silent_count);
  out.counter("corolane_client_connections_dropped_total",
              "Client connections closed without a word: too many, or too many from their address.",
              {}, statistics.placeless_count);
  out.gauge("corolane_client_connections_undecided",
            "Client connections whose first bytes have not come yet.", {},
            statistics.undecided_count);
}

void collect_http(const net::HttpServer* server, MetricWriter& out) {
  out.counter("corolane_http_connections_refused_total",
              "HTTP connections that were refused: too many, or too many from their address.", {},
              server == nullptr ? 0 : server->statistics().refused_connection_count);
}

}  // namespace

void collect_coroutines(coroutine::Scheduler& scheduler, MetricWriter& out) {
  collect_scheduler(scheduler, out);
  collect_stacks(scheduler.stacks(), out);
}

void add_shard_metrics(Metrics& metrics, const Shard& shard) {
  metrics.add([&shard](MetricWriter& out) {
    collect_coroutines(shard.scheduler(), out);
    collect_door(shard.client_door().statistics(), out);
    collect_http(shard.http_server(), out);
    collect_server(shard.rpc_server().statistics(), out, &shard.telemetry().exemplars());
    shard.telemetry().collect(out);
    collect_subscriptions(shard.push(), out);
    if (shard.host() == nullptr) return;
    for (const auto& type : shard.host()->types()) collect_objects(*type, out);
    out.counter("corolane_objects_cycles_refused_total",
                "Calls that would have closed a cycle of objects that wait for one another.", {},
                shard.host()->refused_cycle_count());
    out.histogram("corolane_objects_tick_lateness_seconds",
                  "Delay from the due time of an object's timer to its run.", {},
                  shard.host()->alarms().lateness_us(), lateness_buckets);
  });
}

}  // namespace corolane::framework
