// SPDX-License-Identifier: MIT
// Three nodes on real threads and sockets, in one process, until its input ends: a player on the
// first waits for a guild on the second, that for a lock, its holder for a store that does not
// answer. Prints a line for each node, `NAME ADMIN`, and then `object TYPE/ID`.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task_group.h"
#include "framework/cluster/cluster.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/pages/admin_pages.h"
#include "framework/pages/detail/wait_chain.h"
#include "framework/store/memory_store.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/puppet.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using test::Puppet;
using test::PuppetClient;

// Does not answer a write of one object.
class StuckStore final : public MemoryStore {
 public:
  explicit StuckStore(std::string prefix) : prefix_(std::move(prefix)) {}

  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override {
    if (!key.id.starts_with(prefix_)) {
      return MemoryStore::write(key, epoch, version, object, deadline);
    }
    coroutine::Event answer("an answer");
    return answer.wait(deadline);
  }

 private:
  const std::string prefix_;
};

class StuckCluster {
 public:
  explicit StuckCluster(net::Network& network) : network_(network) {
    strings_.run = [this](Puppet& puppet) -> Result<void> {
      if (puppet.id().starts_with("player")) return call(puppet.router(), guild_);
      const std::scoped_lock held(mutex_);
      if (!puppet.id().starts_with("vault")) return {};
      puppet.change().set_value(1);
      return puppet.save();
    };
  }

  Result<void> run(coroutine::Event& input_ended) {
    for (const char* const name : {"chess-1", "chess-2", "chess-3"}) {
      if (auto started = start(name); !started) return started;
    }
    for (const auto& node : nodes_) {
      std::cout << node->config().name << ' ' << to_string(node->endpoints().admin) << '\n';
    }
    COROLANE_TRY(const std::string player, id_on("player", 0));
    COROLANE_TRY(guild_, id_on("guild", 1));
    COROLANE_TRY(const std::string vault, id_on("vault", 1));
    coroutine::TaskGroup calls;
    COROLANE_TRY(begin(calls, vault, 1));
    COROLANE_TRY(coroutine::sleep_for(std::chrono::milliseconds(200)));
    COROLANE_TRY(begin(calls, player, 0));
    COROLANE_TRY(coroutine::sleep_for(std::chrono::milliseconds(200)));
    std::cout << "object Puppet/" << player << '\n' << std::flush;
    static_cast<void>(input_ended.wait(Deadline::never()));
    for (const auto& node : nodes_) static_cast<void>(node->stop(Deadline::passed()));
    calls.cancel_and_join();
    nodes_.clear();
    return {};
  }

 private:
  static Result<void> call(Router& router, const std::string& id) {
    auto ran =
        PuppetClient(router, id).run({}, {.deadline = Deadline::after(std::chrono::minutes(5))});
    return ran ? Result<void>() : ran.error();
  }

  Result<void> start(const std::string& name) {
    auto node = std::make_unique<Node>(
        test::node_config(name), network_, Log(LogLevel::warning),
        Node::Parts{.store = store_,
                    .directory = std::make_shared<test::FaultyDirectory>(table_),
                    .has_control_loop = true});
    add_node_pages(node->admin(), *node);
    node->host<Puppet>([this](Shard&) { return std::make_unique<Puppet>(strings_); });
    COROLANE_TRY(node->start());
    nodes_.push_back(std::move(node));
    return {};
  }

  // Waits until the partitions are shared out.
  Result<std::string> id_on(const std::string& prefix, std::size_t number) {
    const std::string name = nodes_[number]->config().name;
    for (int i = 0; i < 2'000; ++i) {
      const std::string id = prefix + std::to_string(i);
      const auto view = nodes_[0]->cluster()->view();
      const auto place =
          detail::place_of(*nodes_[number], view.get(), {"corolane.test.Puppet", id});
      if (view->members().size() == 3 && place.is_here) return id;
      COROLANE_TRY(coroutine::sleep_for(std::chrono::milliseconds(10)));
    }
    return Error(Code::unavailable, "no object is on " + name);
  }

  Result<void> begin(coroutine::TaskGroup& calls, const std::string& id, std::size_t number) {
    Node& node = *nodes_[number];
    auto spawned = calls.spawn("client", [&node, id] {
      static_cast<void>(
          node.on_each_shard([id](Shard& shard) { return call(shard.router(), id); }));
    });
    if (!spawned) return spawned.error();
    return {};
  }

  net::Network& network_;
  LocalDirectory table_{1'000};
  std::shared_ptr<StuckStore> store_ = std::make_shared<StuckStore>("vault");
  Puppet::Strings strings_;
  std::string guild_;                     // Set before a player is called.
  coroutine::Mutex mutex_{"vault lock"};  // Of the second node.
  std::vector<std::unique_ptr<Node>> nodes_;
};

int run_cluster() {
  net::EventLoop loop;
  coroutine::Scheduler scheduler(loop);
  net::UvNetwork network(loop);
  coroutine::Event input_ended("end of the input");
  // Ends with the test even if the test crashes, since that closes the pipe.
  std::jthread reader([&] {
    while (std::getchar() != EOF) {
    }
    scheduler.post([&] { input_ended.set(); });
  });
  Result<void> served;
  const auto ran = scheduler.run("main", [&] { served = StuckCluster(network).run(input_ended); });
  if (!ran) served = ran.error();
  if (!served) std::cerr << served << '\n';
  return served ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace corolane::framework

int main() { return corolane::framework::run_cluster(); }
