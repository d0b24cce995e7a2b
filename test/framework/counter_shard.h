// SPDX-License-Identifier: MIT
// One shard that owns all partitions and hosts counters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "test/framework/counter.h"
#include "test/framework/stage.h"

namespace corolane::test {

class CounterShard : public Stage {
 public:
  explicit CounterShard(framework::Store& store, std::uint64_t epoch = 1,
                        const framework::detail::ObjectHost::Options& options = {},
                        const framework::ObjectType& type = Counter::object_type())
      : Stage(store, epoch, options), service_(add_as<Counter>(type)) {
    start();
  }

  CounterClient counter(std::string id) { return CounterClient(router, std::move(id)); }
  // The service that a server adds so that its peers can call the counters.
  rpc::Service& service() { return service_; }

 private:
  rpc::Service& service_;
};

}  // namespace corolane::test
