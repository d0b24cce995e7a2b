// SPDX-License-Identifier: MIT
// The metrics that a node has once, besides those of its shards (shard_metrics.h), and the text of
// all of them.
//
//   add_node_metrics(node.metrics(), node);
//   auto text = metrics_text(node);
//   if (!text) return text.error();
#pragma once

#include <string>

#include "coroutine/base/result.h"
#include "framework/telemetry/metrics.h"

namespace corolane::framework {

class Node;

// `metrics` are those of the node; `node` outlives the last scrape. test/data/metrics.txt
// lists the names: dashboards and alerts are built on them.
void add_node_metrics(Metrics& metrics, const Node& node);

// One scrape of the node and all its shards, for any format. While a shard hangs, the sums over the
// shards are left out: without its part they would be wrong, and its last values may be. Suspends.
// Fails with resource_exhausted when a shard has no stack to collect on.
Result<MetricWriter> collect_metrics(Node& node);
// The same as prometheus_text().
Result<std::string> metrics_text(Node& node);

}  // namespace corolane::framework
