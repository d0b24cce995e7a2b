// SPDX-License-Identifier: MIT
// Thousands of monsters in a node, over the simulated network and in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/stackless_info.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "framework/telemetry/log.h"
#include "net/testing/network.h"
#include "services/wilds/lair.h"
#include "services/wilds/wilds_service.h"
#include "test/framework/test_node.h"

namespace corolane::services::wilds {
namespace {

using namespace std::chrono_literals;
using coroutine::Scheduler;

class WildsTest : public testing::Test {
 protected:
  static constexpr std::size_t monster_count = 3'000;

  // With lairs, or without.
  void start(bool has_lairs) {
    node_ = std::make_unique<framework::Node>(
        test::node_config("wilds"), network_,
        framework::Log(framework::LogLevel::error, [](std::string_view) {}),
        framework::Node::Parts{.store = std::make_shared<framework::MemoryStore>(), .clock = now});
    node_->serve([](framework::Shard& shard) {
      return std::make_unique<WildsService>(shard.router(), WildsConfig{.monsters = monster_count},
                                            1);
    });
    if (has_lairs) node_->host<Lair>();
    const auto started = node_->start();
    ASSERT_TRUE(started) << started;
    connection_ = test::connect(network_, *node_);
    ASSERT_TRUE(connection_);
  }
  LookReply look() {
    auto reply = WildsClient(*connection_).look({});
    EXPECT_TRUE(reply) << reply;
    return reply.value_or(LookReply());
  }

  sim::SimulatedNetwork network_;
  std::unique_ptr<framework::Node> node_;
  std::unique_ptr<rpc::Client> connection_;
};

TEST_F(WildsTest, MonstersRoamDrinkAndBringTheirGoldToLairs) {
  start(true);
  EXPECT_TRUE(coroutine::sleep_for(1min));
  const LookReply seen = look();
  EXPECT_EQ(seen.monsters(), monster_count);
  EXPECT_GT(seen.steps(), monster_count * 60 / 4);
  EXPECT_GT(seen.drinks(), monster_count);
  EXPECT_EQ(seen.failed_deliveries(), 0U);
  EXPECT_GT(seen.gold_delivered(), monster_count);
  // The lairs have all of it; asking goes on while monsters do.
  std::uint64_t hoards = 0;
  for (int number = 0; number < World::lairs; ++number) {
    const auto hoard = LairClient(node_->router(), "lair " + std::to_string(number)).store({});
    ASSERT_TRUE(hoard) << hoard;
    hoards += hoard->hoard();
  }
  EXPECT_GE(hoards, seen.gold_delivered());
}

TEST_F(WildsTest, TheNodeShowsWhatItsMonstersWaitFor) {
  start(true);
  EXPECT_TRUE(coroutine::sleep_for(1min));
  const coroutine::StacklessInfo info = Scheduler::current().stackless();
  EXPECT_EQ(info.count, monster_count);
  std::size_t seen_count = 0;
  std::size_t sleeping_count = 0;
  for (const auto& wait : info.waits) {
    seen_count += wait.count;
    if (wait.waiting_for == "sleep") sleeping_count += wait.count;
    EXPECT_THAT(wait.site.file_name(), testing::HasSubstr("world"));
  }
  EXPECT_EQ(seen_count, monster_count);
  EXPECT_GT(sleeping_count, monster_count / 2);
}

TEST_F(WildsTest, AMonsterKeepsItsGoldWhileNoLairAnswers) {
  start(false);
  EXPECT_TRUE(coroutine::sleep_for(1min));
  const LookReply seen = look();
  EXPECT_GT(seen.failed_deliveries(), 0U);
  EXPECT_EQ(seen.gold_delivered(), 0U);
  EXPECT_GT(seen.drinks(), monster_count / 2);
}

TEST_F(WildsTest, AllComeToRestAtOnceWhenTheNodeEnds) {
  start(true);
  EXPECT_TRUE(coroutine::sleep_for(10s));
  const TimePoint before = now();
  connection_.reset();
  node_.reset();
  EXPECT_LT(now() - before, 1s);
  EXPECT_EQ(Scheduler::current().stackless().count, 0U);
}

}  // namespace
}  // namespace corolane::services::wilds
