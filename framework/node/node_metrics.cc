// SPDX-License-Identifier: MIT
#include "framework/node/node_metrics.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "framework/cluster/cluster.h"
#include "framework/diagnostics/detail/stall_watchdog.h"
#include "framework/node/detail/balancing.h"
#include "framework/node/detail/node_exports.h"
#include "framework/node/detail/wait_watch.h"
#include "framework/node/each_shard.h"
#include "framework/node/node.h"
#include "framework/node/shard_metrics.h"
#include "framework/telemetry/version.h"

namespace corolane::framework {
namespace {

void collect_node(const Node& node, MetricWriter& out) {
  out.gauge("corolane_node_info", "Constant 1; the labels say which node this is.",
            {{"name", node.config().name}, {"version", version()}}, 1);
  out.gauge("corolane_node_uptime_seconds", "Time since the node was made.", {},
            now() - node.created_at());
  out.gauge("corolane_node_stopping", "1 while the node stops, 0 before.", {},
            node.is_stopping() ? 1 : 0);
}

void collect_stalls(const detail::StallWatchdog* watchdog, MetricWriter& out) {
  const auto statistics =
      watchdog == nullptr ? detail::StallWatchdog::Statistics() : watchdog->statistics();
  out.counter("corolane_node_stalls_total",
              "Times that a loop did not turn for node.stall_time_min or longer.", {},
              statistics.count);
  out.counter("corolane_node_stall_seconds_total", "Time for which loops did not turn in stalls.",
              {}, statistics.time);
}

void collect_cluster(const Cluster& cluster, const Fence& fence, MetricWriter& out) {
  const Cluster::Statistics statistics = cluster.statistics();
  const double fence_seconds = fence.is_never() ? std::numeric_limits<double>::infinity()
                                                : MetricValue(fence.time_left()).number();
  out.gauge("corolane_cluster_members", "Nodes in the cluster, as far as this one knows.", {},
            cluster.view()->members().size());
  out.gauge("corolane_cluster_partitions", "Partitions of objects that this node owns.", {},
            statistics.owned_count);
  out.gauge("corolane_cluster_partitions_all",
            "Partitions that the objects of one placement are divided into.", {},
            cluster.view()->partition_count());
  out.counter("corolane_cluster_partitions_claimed_total",
              "Partitions without an owner that the node has claimed.", {},
              statistics.claimed_count);
  out.counter("corolane_cluster_partitions_given_total",
              "Partitions that were handed over to another node.", {}, statistics.given_count);
  out.gauge("corolane_cluster_fence_seconds",
            "Time for which the node may answer without hearing from the directory.", {},
            fence_seconds);
  out.gauge("corolane_cluster_serves_without_directory",
            "1 while the lease may have expired and the store proves each reply, otherwise 0.", {},
            fence.is_in_time() && !fence.has_lease() ? 1 : 0);
  out.counter("corolane_cluster_fences_total",
              "Times that the node was fenced and lost all that it owned.", {},
              statistics.fence_count);
  out.counter("corolane_cluster_joins_total", "Times that the node has joined the cluster.", {},
              statistics.join_count);
  out.counter("corolane_cluster_resyncs_total",
              "Looks for changes of the directory that the watch has not told.", {},
              statistics.resync_count);
  out.counter("corolane_cluster_directory_refusals_total",
              "Attempts to join that were refused because the directory was replaced or set back.",
              {}, statistics.refusal_count);
}

// What the collector takes, besides the spans of the shards.
void collect_exports(const detail::NodeExports* exports, MetricWriter& out) {
  const auto statistics =
      exports == nullptr ? detail::NodeExports::Statistics() : exports->statistics();
  const auto dropped = [&](std::string_view name, std::string_view help,
                           const OtlpExporter::Statistics& of) {
    out.counter(name, help, {{"reason", "queue"}}, of.overflow_count);
    out.counter(name, help, {{"reason", "refused"}}, of.refused_count);
    out.counter(name, help, {{"reason", "unreachable"}}, of.unreachable_count);
  };
  out.counter("corolane_node_log_lines_sent_total",
              "Lines of the log that the collector has accepted.", {}, statistics.logs.sent_count);
  dropped("corolane_node_log_lines_dropped_total",
          "Lines of the log that the collector did not get: too many waited, or it refused them or "
          "was unreachable.",
          statistics.logs);
  out.counter("corolane_node_metrics_sent_total",
              "Times that the collector has accepted all metrics.", {},
              statistics.metrics.sent_count);
  dropped("corolane_node_metrics_dropped_total",
          "Times that the collector did not get all metrics: the former ones were still on their "
          "way, or it refused some or was unreachable.",
          statistics.metrics);
}

// It has stacks of its own, which the sums over the shards do not show.
void collect_control_thread(const Node& node, MetricWriter& out) {
  if (!node.has_control_loop()) return;
  MetricWriter control;
  collect_coroutines(node.scheduler(), control);
  out.add_apart(control, {.name = "thread", .value = "control"});
}

// Known without the help of the shards.
void collect_silence(const Node& node, MetricWriter& out) {
  for (std::size_t shard = 0; shard < node.shard_count(); ++shard) {
    out.gauge("corolane_node_shard_silence_seconds",
              "Time for which the loop of the shard has not turned; 0 while it turns.",
              {{"shard", std::to_string(shard)}}, node.silence_of(shard));
  }
}

}  // namespace

void add_node_metrics(Metrics& metrics, const Node& node) {
  metrics.add([&node](MetricWriter& out) {
    collect_node(node, out);
    collect_stalls(node.stall_watchdog(), out);
    collect_silence(node, out);
    collect_control_thread(node, out);
    collect_exports(node.exports(), out);
    if (node.cluster() != nullptr) collect_cluster(*node.cluster(), node.fence(), out);
    out.counter(
        "corolane_node_wait_cycles_total",
        "Cycles of objects and tasks that wait for one another, and that this node has told.", {},
        node.wait_watch() == nullptr ? 0 : node.wait_watch()->cycle_count());
    out.counter("corolane_cluster_partitions_balanced_total",
                "Partitions that this node has moved among the nodes, to relieve full shards.", {},
                node.balancing() == nullptr ? 0 : node.balancing()->move_count());
  });
}

Result<MetricWriter> collect_metrics(Node& node) {
  auto shards = from_each_shard(node, [](Shard& shard) {
    MetricWriter out;
    shard.metrics().collect(out);
    return out;
  });
  if (!shards) return shards.error();
  MetricWriter all;
  node.metrics().collect(all);
  // A counter that falls, and rises again later, would look like a burst: rather a gap.
  if (shards->silent.empty()) {
    all.add(added_up(std::move(shards->parts),
                     [](MetricWriter& sum, const MetricWriter& more) { sum.add(more); }));
  }
  return all;
}

Result<std::string> metrics_text(Node& node) {
  auto all = collect_metrics(node);
  if (!all) return all.error();
  return all->text();
}

}  // namespace corolane::framework
