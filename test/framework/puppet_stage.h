// One shard that owns all partitions and hosts puppets, over a store that it may share with other
// shards.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "framework/cluster/ownership.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/object_router.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"
#include "framework/time/wall_clock.h"
#include "net/testing/network.h"
#include "test/framework/puppet.h"

namespace corolane::test {

class PuppetStage {
 public:
  // `epoch` is the epoch of its ownership; the store and the strings outlive it.
  PuppetStage(framework::Store& store, const Puppet::Strings& strings, std::uint64_t epoch = 1,
              const framework::detail::ObjectHost::Options& options = {},
              const framework::WallClock& clock = {})
      : router(network_, 0),
        surroundings_{.store = store, .owners = router, .clock = clock},
        host(surroundings_, log_, options) {
    own_all(epoch);
    fence.set(TimePoint::max());
    host.add(
        Puppet::object_type(), ownership, [&strings] { return std::make_unique<Puppet>(strings); },
        sizeof(Puppet));
    router.set_host(host);
    EXPECT_TRUE(host.start());
  }
  ~PuppetStage() { router.stop(); }
  PuppetStage(const PuppetStage&) = delete;
  PuppetStage& operator=(const PuppetStage&) = delete;

  PuppetClient puppet(std::string id) { return PuppetClient(router, std::move(id)); }
  // With epoch 0 it owns none of them.
  void own_all(std::uint64_t epoch) {
    for (std::size_t i = 0; i < framework::partition_count; ++i) {
      ownership.set_epoch(static_cast<framework::Partition>(i), epoch);
    }
  }
  framework::detail::ObjectStatistics statistics() const { return host.statistics(); }

 private:
  sim::SimulatedNetwork network_;
  framework::Log log_{framework::LogLevel::error};

 public:
  framework::Fence fence{now};
  framework::Ownership ownership{fence};
  framework::detail::ObjectRouter router;

 private:
  framework::detail::ObjectCell::Surroundings surroundings_;

 public:
  framework::detail::ObjectHost host;
};

}  // namespace corolane::test
