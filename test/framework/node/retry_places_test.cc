// SPDX-License-Identifier: MIT
// A handler that has begun is run once, wherever its object lives: on the shard of the caller, on
// another shard of its node, or on another node.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/puppet.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::Puppet;
using test::PuppetClient;

constexpr int puppet_count = 30;

// The puppets of every shard of every node fail as the test says.
class FailingPuppets {
 public:
  // Errors that would be retried, if they were the runtime's.
  static const std::vector<Error>& errors() {
    static const std::vector<Error> errors = {
        Error(Code::unavailable, "away"), Error(Code::unavailable, "away").with_not_executed(),
        Error(Code::unavailable, "away").with_maybe_executed(),
        Error(Code::resource_exhausted, "full").with_retry_after(10ms).with_not_executed()};
    return errors;
  }

  void host_on(Node& node) {
    node.host<Puppet>([this](Shard&) { return std::make_unique<Puppet>(strings_); });
  }

  // Calls objects in all places through the router of one of them.
  void expect_run_once(Router& router) {
    for (std::size_t i = 0; i < errors().size(); ++i) {
      const Error& error = errors()[i];
      error_index_ = i;
      run_count_ = 0;
      for (int id = 0; id < puppet_count; ++id) {
        const auto ran = PuppetClient(router, std::to_string(id)).run({});
        ASSERT_THAT(ran, fails_with(error.code()));
        EXPECT_FALSE(ran.error().not_executed()) << "the handler has begun";
        EXPECT_EQ(ran.error().maybe_executed(), error.maybe_executed());
        EXPECT_EQ(ran.error().retry_after(), error.retry_after());
        EXPECT_EQ(ran.error().message(), error.message());
      }
      EXPECT_EQ(run_count_, puppet_count) << error;
    }
  }

  // The same with objects that cannot be activated: no handler begins.
  void expect_refused(Router& router) {
    activates_ = false;
    run_count_ = 0;
    for (int id = puppet_count; id < 2 * puppet_count; ++id) {
      const auto ran = PuppetClient(router, std::to_string(id)).run({});
      ASSERT_THAT(ran, fails_with(Code::failed_precondition));
      EXPECT_TRUE(ran.error().not_executed());
    }
    EXPECT_EQ(run_count_, 0);
  }

 private:
  std::atomic<std::size_t> error_index_ = 0;
  std::atomic<int> run_count_ = 0;
  std::atomic<bool> activates_ = true;
  const Puppet::Strings strings_{.on_activate = [this](Puppet&) -> Result<void> {
                                   if (activates_) return {};
                                   return Error(Code::failed_precondition, "not today");
                                 },
                                 .run = [this](Puppet&) -> Result<void> {
                                   ++run_count_;
                                   return errors()[error_index_];
                                 }};
};

TEST(RetryPlacesTest, HandlersOnAllShardsAreRunOnce) {
  constexpr std::size_t shard_count = 3;
  FailingPuppets puppets;
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig config = test::node_config("several");
    config.shards = shard_count;
    Node node(config, real.network, Log(LogLevel::error, [](std::string_view) {}));
    puppets.host_on(node);
    ASSERT_TRUE(node.start());
    puppets.expect_run_once(node.router());
    std::array<std::size_t, shard_count> counts{};
    EXPECT_TRUE(node.on_each_shard([&](Shard& shard) -> Result<void> {
      counts[shard.index()] = shard.active_object_count();
      return {};
    }));
    for (const std::size_t count : counts) EXPECT_GT(count, 0U) << "objects live on each shard";
    puppets.expect_refused(node.router());
    EXPECT_TRUE(node.stop(Deadline::after(5s)));
  });
}

TEST(RetryPlacesTest, HandlersOnAllNodesAreRunOnce) {
  FailingPuppets puppets;
  sim::SimulatedNetwork network;
  LocalDirectory table{1'000};
  const auto store = std::make_shared<MemoryStore>();
  std::vector<std::unique_ptr<Node>> nodes;
  for (const char* const name : {"a", "b"}) {
    nodes.push_back(std::make_unique<Node>(
        test::node_config(name), network, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{.store = store,
                    .directory = std::shared_ptr<Directory>(&table, [](Directory*) {}),
                    .clock = now}));
    puppets.host_on(*nodes.back());
    ASSERT_TRUE(nodes.back()->start());
  }
  ASSERT_TRUE(coroutine::sleep_for(5s));  // They share the objects then.
  puppets.expect_run_once(nodes[0]->router());
  puppets.expect_run_once(nodes[1]->router());
  for (const auto& node : nodes) EXPECT_GT(node->shard().active_object_count(), 0U);
  puppets.expect_refused(nodes[0]->router());
}

}  // namespace
}  // namespace corolane::framework
