// SPDX-License-Identifier: MIT
// One shard that owns all partitions, without a node, over a store that it may share with other
// shards. The objects of tests are constructed here and nowhere else.
//
//   MemoryStore store;
//   Stage stage(store);
//   stage.add<Counter>();
//   stage.start();
//   CounterClient(stage.router, "a").add(add_request(1));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "coroutine/base/check.h"
#include "framework/cluster/ownership.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/object_router.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"
#include "framework/time/wall_clock.h"
#include "net/testing/network.h"

namespace corolane::test {

class Stage {
 public:
  // `epoch` is the epoch of its ownership; the store outlives it.
  explicit Stage(framework::Store& store, std::uint64_t epoch = 1,
                 const framework::detail::ObjectHost::Options& options = {},
                 const framework::WallClock& clock = {}, const framework::HostOptions& how = {})
      : how_(how),
        router(network_, 0),
        surroundings_{.store = store, .owners = router, .clock = clock},
        host(surroundings_, log_, options) {
    own_all(epoch);
    fence.set(TimePoint::max());
  }
  ~Stage() { router.stop(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Before start(). The objects are constructed with `arguments`, which outlive the stage.
  template <typename T, typename... Arguments>
  framework::detail::HostedType& add(Arguments&... arguments) {
    return add_as<T>(T::object_type(), arguments...);
  }
  // `type` says which methods the objects have and which callers they admit.
  template <typename T, typename... Arguments>
  framework::detail::HostedType& add_as(const framework::ObjectType& type,
                                        Arguments&... arguments) {
    return host.add(
        type, ownership, [&arguments...] { return std::make_unique<T>(arguments...); }, sizeof(T),
        how_);
  }
  void start() {
    router.set_host(host);
    check(host.start().has_value(), "the host starts");
  }

  // With epoch 0 it owns none of them.
  void own_all(std::uint64_t epoch) {
    for (std::size_t i = 0; i < framework::partition_count_min; ++i) {
      ownership.set_epoch(static_cast<framework::Partition>(i), epoch);
    }
  }
  framework::detail::ObjectStatistics statistics() const { return host.statistics(); }

  // A cell that the host does not know: the test calls it instead.
  std::unique_ptr<framework::detail::ObjectCell> make_cell(framework::detail::HostedType& type,
                                                           std::string_view id) {
    return std::make_unique<framework::detail::ObjectCell>(type, id, type.partition_of(id),
                                                           surroundings_);
  }

 private:
  const framework::HostOptions how_;
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
