// SPDX-License-Identifier: MIT
// Calls with request ids take effect once: on the next owner, among many other callers, and when
// the stored reply is invalid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "coroutine/base/try.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "framework/wire/objects.pb.h"
#include "test/framework/counter_shard.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::CounterShard;
using test::fails_with;
using testing::HasSubstr;

class ObjectRequestsTest : public testing::Test {
 protected:
  MemoryStore table_;
  test::FaultyStore store_{table_};
};

TEST_F(ObjectRequestsTest, ARequestIdTakesEffectOnceEvenOnTheNextOwner) {
  CounterShard first(store_, 1);
  const rpc::CallOptions once{.request_id = {.caller = "match-7", .sequence = 1}};
  EXPECT_EQ(first.counter("a").add_for_good(add_request(5), once)->value(), 5);
  EXPECT_EQ(first.counter("a").add_for_good(add_request(5), once)->value(), 5);
  CounterShard second(store_, 2);
  EXPECT_EQ(second.counter("a").add_for_good(add_request(5), once)->value(), 5);
  EXPECT_EQ(second.counter("a").get({})->value(), 5);
}

TEST_F(ObjectRequestsTest, ARequestIdTakesEffectOnceAmongManyCallers) {
  CounterShard first(store_, 1);
  const auto call = [](CounterShard& shard, int caller) {
    const std::string name = "donor-" + std::to_string(caller);
    return shard.counter("guild").add_for_good(add_request(1),
                                               {.request_id = {.caller = name, .sequence = 1}});
  };
  for (int i = 0; i < 200; ++i) EXPECT_EQ(call(first, i)->value(), i + 1);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(call(first, i)->value(), i + 1);
  CounterShard second(store_, 2);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(call(second, i)->value(), i + 1);
  EXPECT_EQ(second.counter("guild").get({})->value(), 200);
}

TEST_F(ObjectRequestsTest, ARequestIdBelongsToOneMethod) {
  CounterShard shard(store_, 1);
  const rpc::CallOptions options{.request_id = {.caller = "ada", .sequence = 1}};
  ASSERT_TRUE(shard.counter("a").add_for_good(add_request(5), options));
  EXPECT_THAT(shard.counter("a").add(add_request(5), options), fails_with(Code::invalid_argument));
  EXPECT_EQ(shard.counter("a").get({})->value(), 5);
}

// A handler that fails because another object is away: a router repeats such a call.
TEST_F(ObjectRequestsTest, ARequestThatFailsAfterItsChangeIsNotExecutedAgain) {
  test::Puppet::Strings strings;
  int run_count = 0;
  strings.run = [&](test::Puppet& puppet) -> Result<void> {
    ++run_count;
    puppet.change().set_value(puppet.state().value() + 1);
    if (puppet.id() == "saver") COROLANE_TRY(puppet.save());
    // A message may hold any bytes.
    return Error(Code::unavailable, "another object is away \xff").with_origin(Origin::runtime);
  };
  test::PuppetStage stage(store_, strings);
  const rpc::CallOptions once{.request_id = {.caller = "ada", .sequence = 1}};
  const auto failed = stage.puppet("a").run({}, once);
  ASSERT_THAT(failed, fails_with(Code::unavailable));
  EXPECT_TRUE(failed.error().maybe_executed());
  const auto retried = stage.puppet("a").run({}, once);
  ASSERT_THAT(retried, fails_with(Code::failed_precondition));
  EXPECT_THAT(retried.error().message(), HasSubstr("another object is away"));
  EXPECT_EQ(stage.puppet("a").look({})->value(), 1);

  ASSERT_THAT(stage.puppet("saver").run_for_good({}, once), fails_with(Code::unavailable));
  test::PuppetStage next(store_, strings, 2);
  const auto elsewhere = next.puppet("saver").run_for_good({}, once);
  ASSERT_THAT(elsewhere, fails_with(Code::failed_precondition));
  EXPECT_THAT(elsewhere.error().message(), HasSubstr("another object is away"));
  EXPECT_EQ(next.puppet("saver").look({})->value(), 1);

  run_count = 0;
  ASSERT_THAT(stage.puppet("undone").run_for_good({}, once), fails_with(Code::unavailable));
  ASSERT_THAT(stage.puppet("undone").run_for_good({}, once), fails_with(Code::unavailable));
  EXPECT_EQ(run_count, 2) << "nothing of it has stayed, so it may be repeated";
}

TEST_F(ObjectRequestsTest, AnInvalidStoredReplyIsAnError) {
  const rpc::CallOptions options{.request_id = {.caller = "ada", .sequence = 1}};
  ObjectRecord record;
  AppliedCaller& caller = *record.add_callers();
  caller.set_caller("ada");
  caller.set_last(1);
  AppliedReply& reply = *caller.add_replies();
  reply.set_sequence(1);
  reply.set_reply("\x0a\xff");
  const ObjectKey key{.type = "corolane.test.Counter", .id = "a"};
  ASSERT_TRUE(store_.seal(key, 1, Deadline::never()));
  const std::string bytes = record.SerializeAsString();
  ASSERT_TRUE(store_.write(key, 1, 0, {.bytes = bytes}, Deadline::never()));
  CounterShard shard(store_, 2);
  const auto called = shard.counter("a").add_for_good(add_request(5), options);
  ASSERT_THAT(called, fails_with(Code::data_loss));
  EXPECT_TRUE(called.error().maybe_executed());
  EXPECT_EQ(shard.counter("a").get({})->value(), 0);
}

TEST_F(ObjectRequestsTest, ACallerWithALongNameIsRefusedBeforeTheStoreIsAsked) {
  CounterShard shard(store_, 1);
  const std::string name(65, 'x');
  const rpc::CallOptions options{.request_id = {.caller = name, .sequence = 1}};
  EXPECT_THAT(shard.counter("a").add(add_request(1), options), fails_with(Code::invalid_argument));
  EXPECT_EQ(store_.seal_count, 0);
}

TEST_F(ObjectRequestsTest, TheMemoryOfAnObjectIncludesTheRequestsThatItRemembers) {
  CounterShard shard(store_, 1);
  ASSERT_TRUE(shard.counter("a").add_for_good(add_request(1)));
  const std::size_t before = shard.host.statistics().memory_bytes;
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::string(60, 'x') + std::to_string(i);
    ASSERT_TRUE(shard.counter("a").add_for_good(add_request(1),
                                                {.request_id = {.caller = name, .sequence = 1}}));
  }
  EXPECT_GT(shard.host.statistics().memory_bytes, before + 10'000U);
}

TEST_F(ObjectRequestsTest, TheSameRequestWaitsForTheFirst) {
  int run_count = 0;
  coroutine::Event go_on("the test");
  test::Puppet::Strings strings;
  strings.run = [&](test::Puppet& puppet) -> Result<void> {
    ++run_count;
    return puppet.wait_for(go_on, Deadline::after(1s));
  };
  test::PuppetStage stage(store_, strings);
  const rpc::CallOptions options{.request_id = {.caller = "client", .sequence = 1}};
  auto run = [&] { return stage.puppet("a").run({}, options); };
  auto first = coroutine::spawn("call", run);
  auto again = coroutine::spawn("call", run);
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(run_count, 1);
  go_on.set();
  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_TRUE(again.join(Deadline::never()));
  EXPECT_EQ(run_count, 1);
}

// It also stores the change of a third call, which the store has refused before.
TEST_F(ObjectRequestsTest, TheSameRequestWaitsForTheFirstBehindAChangeThatIsNotStored) {
  int run_count = 0;
  test::Puppet::Strings strings;
  strings.run = [&](test::Puppet& puppet) -> Result<void> {
    ++run_count;
    return puppet.outside([] { return coroutine::sleep_for(1s); });
  };
  test::PuppetStage stage(store_, strings);
  const rpc::CallOptions options{.request_id = {.caller = "client", .sequence = 1}};
  auto run = [&] { return stage.puppet("a").run({}, options); };
  auto first = coroutine::spawn("call", run);
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  store_.cut();
  strings.run = [&](test::Puppet& puppet) -> Result<void> {
    ++run_count;
    puppet.change().set_value(1);
    return {};
  };
  EXPECT_FALSE(stage.puppet("a").run_for_good({}));
  store_.mend();
  auto again = coroutine::spawn("call", run);
  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_TRUE(again.join(Deadline::never()));
  EXPECT_EQ(run_count, 2);
}

}  // namespace
}  // namespace corolane::framework::detail
