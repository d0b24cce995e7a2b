// SPDX-License-Identifier: MIT
#include "framework/testing/host_loops.h"

#include <utility>

namespace corolane::sim {

std::unique_ptr<framework::ShardLoop> HostLoops::begin(std::size_t shard,
                                                       const coroutine::Scheduler::Options&,
                                                       Body body, OnEnd on_end) {
  Host& thread = process_.thread(first_thread_ + shard);
  net::Network& network = fabric_.network_of(thread);
  thread.start([body = std::move(body), &network] { body(network); },
               [on_end = std::move(on_end)] { on_end({}); });
  return std::make_unique<framework::ShardLoop>();
}

}  // namespace corolane::sim
