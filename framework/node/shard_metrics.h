// The metrics that every shard has a share of: its coroutines, its calls and its objects.
#pragma once

#include "framework/telemetry/metrics.h"

namespace corolane::framework {

class Shard;

// `shard` lives as long as there are scrapes. test/data/metrics.txt lists the names: dashboards
// and alerts are built on them. A peak of a node is the sum of those of its shards, which it may
// never have reached.
void add_shard_metrics(Metrics& metrics, const Shard& shard);

}  // namespace corolane::framework
