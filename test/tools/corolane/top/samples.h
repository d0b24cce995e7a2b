// SPDX-License-Identifier: MIT
// Samples of a node for tests.
#pragma once

#include <string>

#include "tools/corolane/top/frame.h"

namespace corolane::tools::cli::top {

// Ten seconds after the start of the node: 100 switches, 20 tasks created, two methods with 10 and
// 30 calls.
inline Snapshot early_snapshot() {
  StatsSample stats;
  stats.name = "chess-1";
  stats.version = "0.1.0";
  stats.pid = 17;
  stats.uptime_seconds = 10;
  stats.tasks = 5;
  stats.ready = 1;
  stats.created = 20;
  stats.switches = 100;
  stats.stack_hits = 10;
  stats.stack_misses = 10;
  stats.shards = {{.number = 0, .cpu_seconds = 1.0}, {.number = 1, .cpu_seconds = 2.0}};
  stats.methods = {{.name = "Chess/Join",
                    .calls = 10,
                    .errors = 1,
                    .refused = 0,
                    .running = 0,
                    .latency_us = {{{100, 10}}}},
                   {.name = "Chess/Move",
                    .calls = 30,
                    .errors = 0,
                    .refused = 0,
                    .running = 3,
                    .latency_us = {{{200, 30}}}}};
  return {.stats = stats};
}

// The same node two seconds later.
inline Snapshot later_snapshot() {
  Snapshot snapshot = early_snapshot();
  StatsSample& stats = snapshot.stats;
  stats.uptime_seconds = 12;
  stats.switches = 2'100;
  stats.created = 30;
  stats.stack_hits = 19;
  stats.stack_misses = 11;
  stats.shards = {{.number = 0, .cpu_seconds = 2.0}, {.number = 1, .cpu_seconds = 2.0}};
  stats.methods[1].calls = 70;
  stats.methods[1].errors = 4;
  stats.methods[1].latency_us = {{{200, 30}, {400, 39}, {9'000, 1}}};
  snapshot.tasks = TasksSample{
      .count = 3,
      .tasks = {{.id = "1", .name = "main", .state = "suspended", .age_seconds = 12.0},
                {.id = "7",
                 .name = "Chess/Move",
                 .state = "suspended",
                 .waiting_for = "lock",
                 .in_state_seconds = 0.5,
                 .age_seconds = 1.0,
                 .cpu_seconds = 0.004},
                {.id = "9", .name = "Chess/Join", .state = "ready", .age_seconds = 0.5}}};
  return snapshot;
}

}  // namespace corolane::tools::cli::top
