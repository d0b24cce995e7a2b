// SPDX-License-Identifier: MIT
#include "framework/node/each_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
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
using testing::IsEmpty;

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
    EXPECT_THAT(found->parts, ElementsAre(0U, 10U, 20U));
    EXPECT_THAT(found->numbers, ElementsAre(0U, 1U, 2U));
    EXPECT_THAT(found->silent, IsEmpty());
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
      EXPECT_GT(counts->parts[shard], 150U);
      EXPECT_LT(counts->parts[shard], 250U);
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

// Runs `body` while the loop of `number` does not turn.
template <typename F>
void while_shard_hangs(Node& node, std::size_t number, F&& body) {
  std::promise<void> end;
  auto hanging = coroutine::spawn("hang", [&] {
    return node.on_each_shard([&](Shard& shard) -> Result<void> {
      if (shard.index() == number) end.get_future().wait();  // Blocks the thread.
      return {};
    });
  });
  const Deadline deadline = test::soon();
  while (node.silent_shards().empty() && !deadline.has_passed()) {
    ASSERT_TRUE(coroutine::yield());
  }
  body();
  end.set_value();
  EXPECT_TRUE(hanging.join(test::soon()));
  // The shard may end its work before it answers the pulse.
  const Deadline turned = test::soon();
  while (!node.silent_shards().empty() && !turned.has_passed()) ASSERT_TRUE(coroutine::yield());
}

TEST(EachShardTest, AShardThatHangsIsLeftOutAndNamed) {
  with_shards([](Node& node) {
    while_shard_hangs(node, 1, [&] {
      const auto found = from_each_shard(node, [](Shard& shard) { return 10 * shard.index(); });
      ASSERT_TRUE(found) << found;
      EXPECT_THAT(found->parts, ElementsAre(0U, 20U));
      EXPECT_THAT(found->numbers, ElementsAre(0U, 2U));
      ASSERT_EQ(found->silent.size(), 1U);
      EXPECT_EQ(found->silent.front().shard, 1U);
      EXPECT_GE(found->silent.front().time, std::chrono::milliseconds(500));
    });
    const auto found = from_each_shard(node, [](Shard& shard) { return shard.index(); });
    ASSERT_TRUE(found) << found;
    EXPECT_THAT(found->numbers, ElementsAre(0U, 1U, 2U));
  });
}

TEST(EachShardTest, AShardThatBeginsToHangMeanwhileIsLeft) {
  with_shards([](Node& node) {
    // The shard owns it, since it ends after the question.
    const auto end = std::make_shared<std::promise<void>>();
    const auto found = from_each_shard(node, [end](Shard& shard) {
      if (shard.index() == 2) end->get_future().wait();
      return shard.index();
    });
    ASSERT_TRUE(found) << found;
    EXPECT_THAT(found->numbers, ElementsAre(0U, 1U));
    end->set_value();
  });
}

TEST(EachShardTest, AShardThatTurnsIsAwaitedHoweverLongItTakes) {
  with_shards([](Node& node) {
    const auto found = from_each_shard(node, [](Shard&) {
      return coroutine::sleep_for(std::chrono::seconds(1)).has_value() ? 1 : 0;
    });
    ASSERT_TRUE(found) << found;
    EXPECT_THAT(found->parts, ElementsAre(1, 1, 1));
  });
}

TEST(EachShardTest, AReloadFailsBeforeItBeginsWhileAShardHangs) {
  with_shards([](Node& node) {
    while_shard_hangs(
        node, 2, [&] { EXPECT_THAT(node.reload(node.config()), fails_with(Code::unavailable)); });
    EXPECT_TRUE(node.reload(node.config()));
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
