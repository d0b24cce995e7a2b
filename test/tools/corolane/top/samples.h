// SPDX-License-Identifier: MIT
// Samples of a node for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/corolane/top/frame.h"

namespace corolane::tools::cli::top {

// Ten seconds after the start of the node: 100 switches, 20 tasks created, a service with 10 calls
// over the wire, an object with 30, of which 20 came over the wire, and a method that nobody calls.
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
  stats.control_cpu_seconds = 0.5;
  std::vector<MethodSample> methods = {
      {.name = "Chess/Abandon"},
      {.name = "Chess/Join", .calls = 10, .errors = 1, .latency_us = {{{100, 10}}}},
      {.name = "Game/Move", .calls = 20, .running = 3, .latency_us = {{{200, 20}}}},
      {.name = "Game/Move", .is_of_objects = true, .calls = 30, .running = 3}};
  return {.stats = stats, .methods = {.methods = std::move(methods)}};
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
  stats.control_cpu_seconds = 0.7;
  MethodSample& wire = snapshot.methods.methods[2];
  wire.calls = 60;
  wire.errors = 4;
  wire.refusals = 16;
  wire.latency_us = {{{200, 20}, {400, 39}, {9'000, 1}}};
  MethodSample& object = snapshot.methods.methods[3];
  object.calls = 10'030;
  object.errors = 4;
  object.refusals = 2'000;
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

// Three nodes, of which one does not answer and one has no known admin address.
inline ClusterSample cluster_sample() {
  return {.members = {{.node = "chess-1",
                       .state = "serving",
                       .version = "0.1.0",
                       .admin = "10.0.0.1:8461",
                       .calls_per_second = 1'200.0,
                       .errors_per_second = 2.0,
                       .refusals_per_second = 30.0,
                       .p99_seconds = 0.0029,
                       .objects = 500.0,
                       .cpu = 0.85,
                       .memory_bytes = 64.0 * 1024 * 1024,
                       .loop_delay_seconds = 0.0004},
                      {.node = "chess-2",
                       .answers = false,
                       .note = "deadline_exceeded: no answer in 500ms",
                       .admin = "10.0.0.2:8461"},
                      {.node = "chess-3", .state = "draining", .calls_per_second = 300.0}}};
}

}  // namespace corolane::tools::cli::top
