// SPDX-License-Identifier: MIT
#include "framework/node/detail/shard_sample.h"

#include <chrono>
#include <ctime>

#include "framework/node/shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/push_hub.h"
#include "net/http/http_server.h"

namespace corolane::framework::detail {

Duration thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void ShardSample::take(const Shard& shard) {
  coroutine::Scheduler& scheduler = shard.scheduler();
  scheduler.look_for_deep_stacks();
  taken_at = now();
  thread_cpu = thread_cpu_time();
  coroutines = scheduler.statistics();
  stacks = scheduler.stacks().statistics();
  shard.rpc_server().read_totals(calls);
  http_connection_count =
      shard.http_server() == nullptr ? 0 : shard.http_server()->statistics().connection_count;
  subscription_count = shard.push().feeds().subscription_count();
  if (shard.store_gate() != nullptr) store = shard.store_gate()->statistics();
  if (shard.host() == nullptr) return;
  tick_lateness_us = shard.host()->alarms().lateness_us();
  const auto& hosted = shard.host()->types();
  types.resize(hosted.size());
  missed_tick_count = object_call_count = publication_count = unsaved_count = 0;
  for (std::size_t i = 0; i < hosted.size(); ++i) {
    const ObjectStatistics statistics = hosted[i]->statistics();
    types[i] = {.active_count = statistics.active_count, .call_count = statistics.call_count};
    missed_tick_count += statistics.alarms.missed_tick_count;
    object_call_count += statistics.call_count;
    publication_count += statistics.publication_count;
    unsaved_count += statistics.unsaved_count;
  }
}

}  // namespace corolane::framework::detail
