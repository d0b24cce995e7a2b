// SPDX-License-Identifier: MIT
// The first call of an object loads it; a failure leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/sanitizers.h"
#include "framework/objects/detail/object_host.h"
#include "framework/store/memory_store.h"
#include "test/framework/counter_shard.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::fails_with;
using Shard = test::CounterShard;
using testing::HasSubstr;

class ObjectActivationTest : public testing::Test {
 protected:
  MemoryStore table_;
  test::FaultyStore store_{table_};
};

TEST_F(ObjectActivationTest, TheFirstCallsShareOneActivation) {
  // ThreadSanitizer treats each task as a thread and allows 8,128 of them.
  constexpr int count = test::under_thread_sanitizer ? 2'000 : 10'000;
  store_.delay = 5ms;
  Shard shard(store_, 1, {.mailbox_max = count});
  std::vector<coroutine::Task<test::CounterReply>> calls;
  for (int i = 0; i < count; ++i) {
    calls.push_back(
        coroutine::spawn("call", [&] { return shard.counter("a").add(add_request(1)); }));
  }
  std::int64_t sum = 0;
  for (auto& call : calls) {
    auto reply = call.join(Deadline::never());
    ASSERT_TRUE(reply) << reply;
    sum = std::max(sum, reply->value());
  }
  EXPECT_EQ(sum, count);
  EXPECT_EQ(store_.seal_count, 1);
}

TEST_F(ObjectActivationTest, ANameThatIsOnlyReadLeavesNoRow) {
  Shard shard(store_, 1, {.idle_time_max = 1s});
  EXPECT_EQ(shard.counter("a").get({})->value(), 0);
  ASSERT_TRUE(shard.counter("b").add_for_good(add_request(1)));
  const auto row_count = [&] {
    int count = 0;
    table_.for_each([&](const ObjectKey&, const MemoryStore::Row&) { ++count; });
    return count;
  };
  EXPECT_EQ(row_count(), 2);
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_EQ(shard.host.statistics().active_count, 0U);
  EXPECT_EQ(row_count(), 1);
  EXPECT_EQ(shard.counter("a").add_for_good(add_request(1))->value(), 1);
  EXPECT_EQ(shard.counter("b").get({})->value(), 1);
}

TEST_F(ObjectActivationTest, AFailedActivationFailsAllWaitingCalls) {
  store_.cut();
  store_.delay = 1s;
  Shard shard(store_, 1);
  std::vector<coroutine::Task<test::CounterReply>> calls;
  for (int i = 0; i < 100; ++i) {
    calls.push_back(
        coroutine::spawn("call", [&] { return shard.counter("a").add(add_request(1)); }));
  }
  const TimePoint start = now();
  for (auto& call : calls) EXPECT_THAT(call.join(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_EQ(now() - start, 1s);
  EXPECT_EQ(store_.seal_count, 1);
  EXPECT_EQ(shard.host.statistics().active_count, 0U);
}

TEST_F(ObjectActivationTest, ACallerThatGivesUpDoesNotAffectTheOthers) {
  store_.delay = 100ms;
  Shard shard(store_, 1);
  auto hasty = coroutine::spawn("hasty", [&] {
    return shard.counter("a").add(add_request(1), {.deadline = Deadline::after(50ms)});
  });
  auto patient =
      coroutine::spawn("patient", [&] { return shard.counter("a").add(add_request(1)); });
  EXPECT_THAT(hasty.join(Deadline::never()), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(patient.join(Deadline::never())->value(), 1);
}

// Otherwise a client could fill the store with names: one for each call that it gives up at once.
TEST_F(ObjectActivationTest, ASealWhoseReplyIsLostIsReleased) {
  const ObjectKey key = {.type = "corolane.test.Counter", .id = "a"};
  Shard shard(store_);
  store_.loses_answers_of_seals = true;
  const auto lost = shard.counter("a").get({});
  ASSERT_THAT(lost, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(lost.error().not_executed()) << "the handler has not begun";
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(table_.look(key).epoch, 0U);
}

TEST_F(ObjectActivationTest, ASealIsNotReleasedUnderTheNextCall) {
  Shard shard(store_);
  store_.delay = 10ms;
  store_.loses_answers_of_seals = true;
  auto lost = coroutine::spawn("lost", [&] { return shard.counter("a").get({}); });
  ASSERT_TRUE(coroutine::sleep_for(5ms));
  auto next =
      coroutine::spawn("next", [&] { return shard.counter("a").add_for_good(add_request(2)); });
  EXPECT_THAT(lost.join(Deadline::never()), fails_with(Code::deadline_exceeded));
  store_.loses_answers_of_seals = false;
  ASSERT_TRUE(next.join(Deadline::never()));
  EXPECT_EQ(shard.counter("a").add_for_good(add_request(3))->value(), 5);
}

TEST_F(ObjectActivationTest, ACallDuringActivationMayNotCallBack) {
  test::Puppet::Strings strings;
  strings.on_activate = [](test::Puppet& puppet) -> Result<void> {
    if (puppet.id() != "a") return {};
    const auto ran = test::PuppetClient(puppet.router(), "b").run({});
    return ran ? Result<void>() : ran.error();
  };
  strings.run = [](test::Puppet& puppet) -> Result<void> {
    const auto ran = test::PuppetClient(puppet.router(), "a").run({});
    return ran ? Result<void>() : ran.error();
  };
  test::PuppetStage stage(store_, strings);
  const auto refused = stage.puppet("a").run({});
  ASSERT_THAT(refused, fails_with(Code::failed_precondition));
  EXPECT_THAT(refused.error().message(), HasSubstr("corolane.test.Puppet/on_activate(\"a\") -> "
                                                   "corolane.test.Puppet/Run(\"b\") -> "
                                                   "corolane.test.Puppet/Run(\"a\")"));
}

TEST_F(ObjectActivationTest, AFailedActivationLeavesNoSeal) {
  test::Puppet::Strings strings;
  strings.on_activate = [](test::Puppet&) -> Result<void> {
    return Error(Code::not_found, "no such puppet");
  };
  test::PuppetStage stage(store_, strings);
  EXPECT_THAT(stage.puppet("a").run({}), fails_with(Code::not_found));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(table_.look({.type = "corolane.test.Puppet", .id = "a"}).epoch, 0U);
}

TEST_F(ObjectActivationTest, AnExceptionDuringActivationIsAnError) {
  int failing_count = 1;
  test::Puppet::Strings strings;
  strings.on_activate = [&](test::Puppet&) -> Result<void> {
    if (failing_count-- > 0) throw std::runtime_error("as the test wants");
    return {};
  };
  test::PuppetStage stage(store_, strings);
  const auto threw = stage.puppet("a").run({});
  ASSERT_THAT(threw, fails_with(Code::internal));
  EXPECT_EQ(threw.error().message(),
            "corolane.test.Puppet/on_activate threw an exception: as the test wants "
            "(std::runtime_error)");
  EXPECT_TRUE(stage.puppet("a").run({}));
  EXPECT_EQ(stage.statistics().stray_exception_count, 1U);
}

}  // namespace
}  // namespace corolane::framework::detail
