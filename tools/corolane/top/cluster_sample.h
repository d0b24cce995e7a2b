// SPDX-License-Identifier: MIT
// A sample of a cluster: the page /cluster of any of its nodes, parsed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::tools::cli::top {

// A figure that the page does not have, such as that of a node of an earlier build, is nothing.
struct MemberSample {
  std::string node;
  std::string state = {};    // "serving", "draining", "hanging".
  std::string version = {};  // Empty when it is unknown.
  bool answers = true;
  std::string note = {};   // Why it does not answer, or which of its shards do not; mostly empty.
  std::string admin = {};  // The address of its admin pages; empty when it is unknown.
  std::optional<double> calls_per_second = {};
  std::optional<double> errors_per_second = {};    // By the server's fault.
  std::optional<double> refusals_per_second = {};  // By the caller's.
  std::optional<double> p99_seconds = {};
  std::optional<double> objects = {};  // Active ones.
  std::optional<double> cpu = {};      // In cores.
  std::optional<double> memory_bytes = {};
  std::optional<double> loop_delay_seconds = {};
};

struct ClusterSample {
  std::vector<MemberSample> members;
};

// The page /cluster?format=json. Fails with invalid_argument when `json` is not that page.
Result<ClusterSample> read_cluster(std::string_view json);

}  // namespace corolane::tools::cli::top
