// The stores that must all keep the contract of framework/store/store.h.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "coroutine/base/result.h"
#include "framework/store/store.h"
#include "net/network.h"

namespace corolane::test {

// Where the objects of one test are, whichever of its stores is asked.
class StoreBackend {
 public:
  virtual ~StoreBackend() = default;

  // Why it cannot be tested on this machine; empty when it can.
  virtual std::string missing() const { return {}; }

  // For the calling thread's shard; another one's may be the same store. Opened again when all are
  // gone, it is as after a restart.
  virtual Result<std::shared_ptr<framework::Store>> open(net::Network& network) = 0;
  // Opens it and calls `body` on a shard of its own, on a real loop unless it has time of its own.
  virtual void run(const std::function<void(framework::Store&)>& body);
  // Whether shards on several threads may do so at the same time.
  virtual bool is_for_threads() const { return true; }
};

// "memory", "sqlite", "redis", "simulated", or "recorded".
std::unique_ptr<StoreBackend> make_store_backend(const std::string& name);

}  // namespace corolane::test
