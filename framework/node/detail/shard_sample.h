// SPDX-License-Identifier: MIT
// What a shard tells of itself once a second, for the history of the node.
//
//   ShardSample sample;
//   sample.take(shard);  // On its thread.
//
// It copies counters that the shard keeps anyway: it visits no connection, no task and no object,
// so it takes the same few microseconds on a busy node, and after the first time it allocates
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/histogram.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack/stack_pool.h"
#include "framework/store/detail/store_gate.h"
#include "rpc/server/server.h"

namespace corolane::framework {
class Shard;
}

namespace corolane::framework::detail {

struct ShardSample {
  struct Type {
    std::size_t active_count = 0;
    std::uint64_t call_count = 0;
  };

  // Replaces what an earlier call has taken. Never suspends.
  void take(const Shard& shard);

  TimePoint taken_at{};
  Duration thread_cpu{};
  coroutine::Scheduler::Statistics coroutines;
  coroutine::StackPool::Statistics stacks;
  rpc::Server::Totals calls;
  std::uint64_t http_connection_count = 0;
  StoreGate::Statistics store;
  Histogram tick_lateness_us;
  std::uint64_t missed_tick_count = 0;
  std::uint64_t object_call_count = 0;
  std::uint64_t publication_count = 0;
  std::size_t subscription_count = 0;
  std::size_t unsaved_count = 0;
  std::vector<Type> types;  // As Node::hosted() lists them.
};

// The CPU time of the calling thread.
Duration thread_cpu_time();

}  // namespace corolane::framework::detail
