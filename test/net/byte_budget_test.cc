// SPDX-License-Identifier: MIT
// ByteBudget by itself, and what streams do with it, on both networks.
#include "net/byte_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/random.h"
#include "net/stream.h"
#include "net/testing/network.h"
#include "test/fixtures/real_loop.h"
#include "test/net/both_networks.h"
#include "test/net/raw_socket.h"
#include "test/net/stream_pair.h"
#include "test/net/test_sink.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::RealLoop;
using test::run_on_real_loop;
using testing::ElementsAre;
using testing::HasSubstr;

struct Holder final : ByteBudget::Account::Owner {
  explicit Holder(ByteBudget& budget) { account.open(budget, *this); }
  void evict() override { is_evicted = true; }

  bool is_evicted = false;
  ByteBudget::Account account;
  ByteBudget::Share share{&account};
};

TEST(ByteBudgetTest, AnAccountSumsTheSharesOfItsLayers) {
  ByteBudget budget(100'000);
  Holder holder(budget);
  {
    ByteBudget::Share reader(&holder.account);
    holder.share.set(10'000);
    reader.set(5'000);
    EXPECT_EQ(holder.account.bytes(), 15'000u);
    EXPECT_EQ(budget.statistics().bytes, 15'000u);
    holder.share.set(1'000);
    EXPECT_EQ(budget.statistics().bytes, 6'000u);
  }
  EXPECT_EQ(budget.statistics().bytes, 1'000u);
}

TEST(ByteBudgetTest, TheLargestGoesWhenTheBudgetIsUsedUp) {
  ByteBudget budget(100'000);
  Holder small(budget);
  Holder large(budget);
  Holder other(budget);
  small.share.set(10'000);
  large.share.set(60'000);
  other.share.set(30'000);
  EXPECT_FALSE(large.is_evicted) << "the budget is just used up";
  small.share.set(10'001);
  EXPECT_TRUE(large.is_evicted);
  EXPECT_FALSE(small.is_evicted);
  EXPECT_FALSE(other.is_evicted);
  EXPECT_EQ(budget.statistics().bytes, 40'001u);
  EXPECT_EQ(budget.statistics().evicted_count, 1u);
}

TEST(ByteBudgetTest, EvictsTheOldestOfTheLargestHolders) {
  ByteBudget budget(100'000);
  Holder first(budget);
  Holder second(budget);
  Holder third(budget);
  for (Holder* const holder : {&second, &first, &third}) holder->share.set(33'000);
  third.share.set(40'000);
  EXPECT_TRUE(second.is_evicted);
  EXPECT_FALSE(first.is_evicted || third.is_evicted);
}

TEST(ByteBudgetTest, ThoseThatHoldNearlyNothingStay) {
  ByteBudget budget(1'000);
  Holder holder(budget);
  ASSERT_TRUE(budget.take(500));
  holder.share.set(600);
  EXPECT_FALSE(holder.is_evicted);
  budget.give_back(500);
}

TEST(ByteBudgetTest, RequestsTakeAtMostHalf) {
  ByteBudget budget(1'000);
  EXPECT_TRUE(budget.take(500));
  EXPECT_FALSE(budget.take(1));
  EXPECT_EQ(budget.statistics().refused_count, 1u);
  budget.give_back(1);
  EXPECT_TRUE(budget.take(1));
  budget.give_back(500);
}

TEST(ByteBudgetTest, ConnectionsThatFillTheBudgetKeepNoRequestOut) {
  ByteBudget budget(100'000);
  Holder small(budget);
  Holder large(budget);
  small.share.set(2'000);
  large.share.set(98'000);
  EXPECT_TRUE(budget.is_tight());
  EXPECT_TRUE(budget.take(100));
  EXPECT_TRUE(large.is_evicted);
  EXPECT_FALSE(small.is_evicted);
  EXPECT_FALSE(budget.is_tight());
  budget.give_back(100);
}

TEST(ByteBudgetTest, WaitsUntilEvictedConnectionsHaveGivenTheirBytesBack) {
  ByteBudget budget(100'000);
  Holder large(budget);
  Holder other(budget);
  large.share.set(60'000);
  other.share.set(50'000);
  ASSERT_TRUE(large.is_evicted);
  EXPECT_EQ(budget.statistics().bytes, 50'000u);
  EXPECT_TRUE(budget.waits_for_evicted());
  large.share.set(6'000);
  EXPECT_FALSE(budget.waits_for_evicted());
  large.share.set(90'000);
  EXPECT_TRUE(budget.waits_for_evicted());
  EXPECT_EQ(budget.statistics().evicted_count, 1u) << "nobody else pays for it";
  large.account.close();
  EXPECT_FALSE(budget.waits_for_evicted());
  large.share.set(0);
  EXPECT_EQ(budget.statistics().bytes, 50'000u);
}

TEST(ByteBudgetTest, AnAccountMayOutliveItsBudget) {
  auto budget = std::make_unique<ByteBudget>(1'000);
  Holder holder(*budget);
  holder.share.set(100);
  budget.reset();
  holder.share.set(200);
  EXPECT_EQ(holder.account.bytes(), 0u);
}

TEST(ByteBudgetTest, AnyOrderOfChangesKeepsTheSumAndTheBound) {
  test::Random random;
  ByteBudget budget(1'000'000);
  std::vector<std::unique_ptr<Holder>> holders;
  std::vector<std::size_t> held(100);
  for (std::size_t i = 0; i < held.size(); ++i) holders.push_back(std::make_unique<Holder>(budget));
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t at = random.below(held.size());
    if (holders[at]->is_evicted || random.below(10) == 0) {
      holders[at] = std::make_unique<Holder>(budget);
      held[at] = 0;
      continue;
    }
    held[at] = random.below(std::uint64_t{1} << random.below(18));
    holders[at]->share.set(held[at]);
    std::size_t sum = 0;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (holders[i]->is_evicted) continue;
      sum += held[i];
      largest = std::max(largest, held[i]);
    }
    ASSERT_EQ(budget.statistics().bytes, sum);
    ASSERT_LE(sum, 1'000'000u);
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (holders[i]->is_evicted && i != at) {
        ASSERT_GT(held[i] * 2, largest);
        holders[i] = std::make_unique<Holder>(budget);
        held[i] = 0;
      }
    }
  }
  EXPECT_GT(budget.statistics().evicted_count, 10u);
}

TEST(StreamBudgetTest, AStreamWhosePeerReadsNothingIsClosedAboveTheBudget) {
  run_on_all([](Network& network, const auto& settle) {
    ByteBudget budget(8'000'000);
    auto greedy = make_stream_pair_at(loopback, network, {}, {.budget = &budget});
    auto modest = make_stream_pair_at(loopback, network, {}, {.budget = &budget});
    ASSERT_TRUE(greedy && modest);
    TestSink greedy_sink;
    TestSink modest_sink;
    greedy->server->set_read_sink(greedy_sink);
    modest->server->set_read_sink(modest_sink);
    EXPECT_TRUE(greedy->server->try_write(bytes_of(flood())));
    greedy_sink.wait_for_end();
    settle();
    EXPECT_TRUE(greedy->server->is_closed());
    EXPECT_FALSE(modest->server->is_closed());
    EXPECT_TRUE(send_text(*modest->client, "hello"));
    modest_sink.wait_for_text("hello");
    EXPECT_EQ(budget.statistics().evicted_count, 1u);
    EXPECT_LT(budget.statistics().bytes, 100'000u);
  });
}

TEST(StreamBudgetTest, ATaskThatWritesIsToldWhyItsStreamWasClosed) {
  run_on_real_loop([](RealLoop& real) {
    ByteBudget budget(8'000'000);
    auto pair = make_stream_pair_at(loopback, real.network, {}, {.budget = &budget});
    ASSERT_TRUE(pair);
    const auto written = pair->server->write_all(bytes_of(flood()), test::soon());
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code(), Code::unavailable);
    EXPECT_THAT(written.error().message(), HasSubstr("held too much memory"));
  });
}

TEST(StreamBudgetTest, OutputThatThePeerTakesIsNotHeldAnyMore) {
  run_on_all([](Network& network, const auto& settle) {
    ByteBudget budget(30'000'000);
    auto pair = make_stream_pair_at(loopback, network, {}, {.budget = &budget});
    ASSERT_TRUE(pair);
    const std::string all = flood();
    EXPECT_TRUE(pair->server->try_write(bytes_of(all)));
    settle();
    EXPECT_GT(budget.statistics().bytes, 8'000'000u);
    EXPECT_TRUE(read_exactly(*pair->client, all.size()));
    settle();
    EXPECT_LT(budget.statistics().bytes, 100'000u);
    pair->server.reset();
    EXPECT_EQ(budget.statistics().bytes, 0u);
  });
}

TEST(StreamBudgetTest, WhileTheBudgetIsTightAPeerWithUnsentOutputIsNotRead) {
  run_on_all([](Network& network, const auto& settle) {
    ByteBudget budget(64'000'000);
    auto pair = make_stream_pair_at(loopback, network, {}, {.budget = &budget});
    auto idle = make_stream_pair_at(loopback, network, {}, {.budget = &budget});
    ASSERT_TRUE(pair && idle);
    TestSink sink;
    TestSink idle_sink;
    pair->server->set_read_sink(sink);
    idle->server->set_read_sink(idle_sink);
    const std::string all = flood();
    EXPECT_TRUE(pair->server->try_write(bytes_of(all)));
    settle();
    EXPECT_TRUE(send_text(*pair->client, "one"));
    sink.wait_for_text("one");
    budget.set_bytes_max(budget.statistics().bytes * 5 / 4);
    ASSERT_TRUE(budget.is_tight());
    EXPECT_TRUE(send_text(*pair->client, "two"));
    EXPECT_TRUE(send_text(*idle->client, "served"));
    idle_sink.wait_for_text("served");
    settle();
    EXPECT_EQ(sink.text, "one");
    EXPECT_TRUE(read_exactly(*pair->client, all.size()));
    sink.wait_for_text("onetwo");
  });
}

}  // namespace
}  // namespace corolane::net
