// SPDX-License-Identifier: MIT
// The cluster in `corolane top`: a row for each of its nodes, and their sums.
#pragma once

#include <string>
#include <vector>

#include "tools/corolane/top/cluster_sample.h"
#include "tools/corolane/top/frame.h"

namespace corolane::tools::cli::top {

// Nodes that do not answer say so in their state, and have no figures.
Table cluster_table(const ClusterSample& cluster);

std::vector<SummaryLine> cluster_summary(const ClusterSample& cluster);

// The same figures as one line of JSON, for programs.
std::string cluster_json(const ClusterSample& cluster);

}  // namespace corolane::tools::cli::top
