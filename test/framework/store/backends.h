// SPDX-License-Identifier: MIT
// The stores that must satisfy the contract of framework/store/store.h.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "coroutine/base/result.h"
#include "framework/store/store.h"
#include "net/network.h"

namespace corolane::test {

// The objects of one test; every store that it opens sees them.
class StoreBackend {
 public:
  virtual ~StoreBackend() = default;

  // Why it cannot be tested on this machine; empty when it can.
  virtual std::string missing() const { return {}; }

  // Opens the store for the shard of the calling thread; all shards may share one store. Opening it
  // after all of them are gone simulates a restart.
  virtual Result<std::shared_ptr<framework::Store>> open(net::Network& network) = 0;
  // Opens it and calls `body` on a shard of its own, on a real loop unless the backend has its own
  // time.
  virtual void run(const std::function<void(framework::Store&)>& body);
  // Whether shards on several threads may use it at the same time.
  virtual bool is_for_threads() const { return true; }
};

// "memory", "sqlite", "redis", "three_redis", "simulated", or "recorded".
std::unique_ptr<StoreBackend> make_store_backend(const std::string& name);

}  // namespace corolane::test
