// SPDX-License-Identifier: MIT
// How each of the stores is opened.
#include "test/framework/store/backends.h"

#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <mutex>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/recording/detail/inbox_store.h"
#include "framework/store/memory_store.h"
#include "framework/store/redis_store.h"
#include "framework/store/sqlite_store.h"
#include "framework/testing/fabric.h"
#include "framework/testing/host.h"
#include "framework/testing/simulation.h"
#include "framework/testing/store_server.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/recording/two_lives.h"
#include "tools/processes/redis_server.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using framework::MemoryStore;
using framework::RedisStore;
using framework::SqliteStore;
using framework::Store;
using framework::recording::Inbox;
using framework::recording::InboxStore;

// Lives as long as the backend: a MemoryStore loses its content when it is destroyed.
class MemoryBackend : public StoreBackend {
 public:
  Result<std::shared_ptr<Store>> open(net::Network&) override { return store_; }

 private:
  const std::shared_ptr<Store> store_ = std::make_shared<MemoryStore>();
};

class SqliteBackend : public StoreBackend {
 public:
  Result<std::shared_ptr<Store>> open(net::Network&) override {
    const std::scoped_lock lock(mutex_);
    if (auto store = open_.lock()) return store;
    auto opened = SqliteStore::open(folder_.path() / "objects.db");
    if (!opened) return opened.error();
    std::shared_ptr<Store> store = std::move(*opened);
    open_ = store;
    return store;
  }

 private:
  const TemporaryFolder folder_;
  std::mutex mutex_;
  std::weak_ptr<Store> open_;  // Guarded by mutex_: all shards have the same one.
};

class RedisBackend : public StoreBackend {
 public:
  // Started in the constructor, since a server dies with the thread that has started it.
  explicit RedisBackend(std::size_t server_count) {
    if (!missing().empty()) return;
    for (std::size_t number = 0; number < server_count; ++number) servers_.emplace_back();
  }

  std::string missing() const override { return RedisServer::missing(); }

  Result<std::shared_ptr<Store>> open(net::Network& network) override {
    RedisStore::Options options{.endpoints = {}};
    for (const RedisServer& server : servers_) options.endpoints.push_back(server.endpoint());
    return std::make_shared<RedisStore>(network, std::move(options));
  }

 private:
  std::list<RedisServer> servers_;
};

// The store of simulated clusters, over their network.
class SimulatedBackend : public StoreBackend {
 public:
  Result<std::shared_ptr<Store>> open(net::Network&) override {
    return Error(Code::unimplemented, "it lives in simulated time");
  }
  bool is_for_threads() const override { return false; }
  void run(const std::function<void(Store&)>& body) override {
    node_.start([&] { body(*server_.store_of(node_)); });
    EXPECT_TRUE(simulation_.run_until([&] { return !node_.is_alive(); }, simulation_.now() + 1h));
  }

 private:
  sim::Simulation simulation_{{.seed = 1}};
  sim::Fabric fabric_{simulation_};
  sim::StoreServer server_{simulation_, fabric_, nullptr};
  sim::Host& node_ = simulation_.add_host("node");
};

// The store of a recorded node.
class RecordedBackend : public StoreBackend {
 public:
  Result<std::shared_ptr<Store>> open(net::Network&) override {
    return Error(Code::unimplemented, "it lives behind an inbox");
  }
  bool is_for_threads() const override { return false; }
  void run(const std::function<void(Store&)>& body) override {
    framework::recording::record(
        folder_.path() / "recording",
        [&](net::Network&, Inbox& inbox) {
          InboxStore store(inbox, "sqlite behind an inbox");
          body(store);
        },
        [this] { return open_sqlite(); });
  }

 private:
  Result<std::shared_ptr<Store>> open_sqlite() const {
    auto store = SqliteStore::open(folder_.path() / "objects.db");
    if (!store) return store.error();
    return std::shared_ptr<Store>(*std::move(store));
  }

  const TemporaryFolder folder_;
};

}  // namespace

void StoreBackend::run(const std::function<void(Store&)>& body) {
  run_on_real_loop([&](RealLoop& real) {
    auto store = open(real.network);
    ASSERT_TRUE(store) << store.error();
    body(**store);
  });
}

std::unique_ptr<StoreBackend> make_store_backend(const std::string& name) {
  if (name == "memory") return std::make_unique<MemoryBackend>();
  if (name == "sqlite") return std::make_unique<SqliteBackend>();
  if (name == "recorded") return std::make_unique<RecordedBackend>();
  if (name == "simulated") return std::make_unique<SimulatedBackend>();
  if (name == "redis") return std::make_unique<RedisBackend>(1);
  check(name == "three_redis", "there is such a store");
  return std::make_unique<RedisBackend>(3);
}

}  // namespace corolane::test
