// SPDX-License-Identifier: MIT
// The metrics that every shard contributes to: its coroutines, its calls and its objects.
//
//   add_shard_metrics(shard.metrics(), shard);
#pragma once

#include "framework/telemetry/metrics.h"

namespace corolane::coroutine {
class Scheduler;
}

namespace corolane::framework {

class Shard;

// `shard` outlives the last scrape. test/data/metrics.txt lists the names: dashboards and alerts
// are built on them. A node's peak is the sum of its shards' peaks, which it may never have
// reached.
void add_shard_metrics(Metrics& metrics, const Shard& shard);

// Those of the coroutines of one thread, whether it is that of a shard. Called there.
void collect_coroutines(coroutine::Scheduler& scheduler, MetricWriter& out);

}  // namespace corolane::framework
