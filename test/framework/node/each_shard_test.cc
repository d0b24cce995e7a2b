// SPDX-License-Identifier: MIT
#include "framework/node/each_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/node/node_metrics.h"
#include "framework/telemetry/log.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/crowd.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using test::fails_with;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

// Runs `body` with a node of three shards.
template <typename F>
void with_shards(F&& body) {
  test::run_on_real_loop([&](test::RealLoop& real) {
    NodeConfig config = test::node_config("several");
    config.shards = 3;
    config.stacks.count_max = 600;
    Node node(config, real.network, Log(LogLevel::error));
    const auto started = node.start();
    ASSERT_TRUE(started) << started;
    body(node);
    EXPECT_TRUE(node.stop(test::soon()));
  });
}

TEST(EachShardTest, EachAnswerIsAtTheIndexOfItsShard) {
  with_shards([](Node& node) {
    const auto found = from_each_shard(node, [](Shard& shard) { return 10 * shard.index(); });
    ASSERT_TRUE(found) << found;
    EXPECT_THAT(*found, ElementsAre(0U, 10U, 20U));
  });
}

TEST(EachShardTest, EachShardAnswersWhenLoadHasTakenItsStacks) {
  with_shards([](Node& node) {
    // The first shard has the stacks of the test, which are many more.
    const test::Crowd crowd(node, {1, 1'000, 1'000});
    const auto counts = from_each_shard(
        node, [](Shard& shard) { return shard.scheduler().statistics().task_count; });
    ASSERT_TRUE(counts) << counts;
    for (const std::size_t shard : {1U, 2U}) {
      EXPECT_GT((*counts)[shard], 150U);
      EXPECT_LT((*counts)[shard], 250U);
    }
  });
}

TEST(EachShardTest, AnErrorOfOneShardIsTheErrorOfAll) {
  with_shards([](Node& node) {
    const auto looked = node.on_each_shard([](Shard& shard) -> Result<void> {
      if (shard.index() < 2) return {};
      return Error(Code::not_found, "nothing on the last one");
    });
    EXPECT_THAT(looked, fails_with(Code::not_found));
  });
}

TEST(EachShardTest, AnExceptionOnAnotherThreadIsAnError) {
  with_shards([](Node& node) {
    const auto looked = from_each_shard(node, [](Shard& shard) {
      if (shard.index() == 1) throw std::runtime_error("as the test wants");
      return 1;
    });
    EXPECT_THAT(looked, fails_with(Code::internal));
    EXPECT_TRUE(from_each_shard(node, [](Shard&) { return 1; }));
  });
}

TEST(EachShardTest, AnExceptionOnTheFirstShardWaitsForTheOthers) {
  with_shards([](Node& node) {
    std::vector<int> slept(3);
    const auto look = [&](Shard& shard) -> Result<void> {
      if (shard.index() == 0) throw std::runtime_error("as the test wants");
      auto rest = coroutine::sleep_for(std::chrono::milliseconds(5));
      slept[shard.index()] = 1;
      return rest;
    };
    EXPECT_THROW(static_cast<void>(node.on_each_shard(look)), std::runtime_error);
    EXPECT_THAT(slept, ElementsAre(0, 1, 1));
  });
}

TEST(EachShardTest, AnswersAreAddedToTheFirst) {
  const auto add = [](int& sum, const int& more) { sum += more; };
  EXPECT_EQ(added_up(std::vector{1, 20, 300}, add), 321);
  EXPECT_EQ(added_up(std::vector{1}, add), 1);
}

TEST(EachShardTest, AScrapeHasTheMetricsOfAllShards) {
  with_shards([](Node& node) {
    EXPECT_TRUE(node.on_each_shard([](Shard& shard) -> Result<void> {
      shard.metrics().add([&shard](MetricWriter& out) {
        out.gauge("rooms", "Open rooms.", {}, shard.index() + 1);
      });
      return {};
    }));
    const auto text = metrics_text(node);
    ASSERT_TRUE(text) << text;
    EXPECT_THAT(*text, HasSubstr("\nrooms 6\n"));
    // A node counts once, however many shards it has.
    EXPECT_THAT(*text, ContainsRegex("\ncorolane_node_info\\{[^}]*\\} 1\n"));
    EXPECT_THAT(*text, HasSubstr("\ncorolane_node_stopping 0\n"));
    EXPECT_THAT(*text, HasSubstr("\ncorolane_rpc_connections 0\n"));
  });
}

}  // namespace
}  // namespace corolane::framework
