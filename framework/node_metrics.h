// The metrics that every node has: of itself, of its coroutines and of its calls.
#pragma once

#include "framework/metrics.h"

namespace corolane::framework {

class Node;

// `node` lives as long as there are scrapes. test/data/metrics.txt lists the names: dashboards
// and alerts are built on them.
void add_node_metrics(Metrics& metrics, const Node& node);

}  // namespace corolane::framework
