// One shard that owns all partitions and hosts counters, over a store that it may share with other
// shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "framework/cluster/ownership.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/object_router.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"

namespace corolane::test {

class CounterShard {
 public:
  // `epoch` is the epoch of its ownership; the store outlives it. `type` says which methods a
  // counter has and which callers they admit.
  explicit CounterShard(framework::Store& store, std::uint64_t epoch = 1,
                        const framework::detail::ObjectHost::Options& options = {},
                        const framework::ObjectType& type = Counter::object_type())
      : router(network_, 0), surroundings_{store, router}, host(surroundings_, log_, options) {
    for (std::size_t i = 0; i < framework::partition_count; ++i) {
      ownership.set_epoch(static_cast<framework::Partition>(i), epoch);
    }
    fence.set(TimePoint::max());
    service_ =
        &host.add(type, ownership, [] { return std::make_unique<Counter>(); }, sizeof(Counter));
    router.set_host(host);
    check(host.start().has_value(), "the host starts");
  }
  ~CounterShard() { router.stop(); }
  CounterShard(const CounterShard&) = delete;
  CounterShard& operator=(const CounterShard&) = delete;

  CounterClient counter(std::string id) { return CounterClient(router, std::move(id)); }
  // The service that a server adds so that its peers can call the counters.
  rpc::Service& service() { return *service_; }

 private:
  sim::SimulatedNetwork network_;
  framework::Log log_{framework::LogLevel::error};

 public:
  framework::Fence fence{now};
  framework::Ownership ownership{fence};
  framework::detail::ObjectRouter router;

 private:
  framework::detail::ObjectCell::Surroundings surroundings_;
  rpc::Service* service_ = nullptr;

 public:
  framework::detail::ObjectHost host;
};

}  // namespace corolane::test
