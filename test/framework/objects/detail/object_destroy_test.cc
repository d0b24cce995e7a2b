// SPDX-License-Identifier: MIT
// Objects that end: destroyed by themselves, or deactivated at their own wish.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::Puppet;
using test::PuppetStage;
using testing::HasSubstr;

constexpr WallTime noon(1'700'000'000'000ms);
constexpr ObjectKey key = {.type = "corolane.test.Puppet", .id = "a"};

class ObjectDestroyTest : public testing::Test {
 protected:
  // The next call of the object does that.
  Result<void> call(PuppetStage& stage, std::function<Result<void>(Puppet&)> work,
                    const rpc::CallOptions& options = {}) {
    strings_.run = std::move(work);
    auto called = stage.puppet("a").run({}, options);
    if (!called) return called.error();
    return {};
  }
  Result<void> set(PuppetStage& stage, std::int64_t value) {
    return call(stage, [value](Puppet& puppet) -> Result<void> {
      puppet.change().set_value(value);
      return puppet.save();
    });
  }
  static Result<void> destroy(Puppet& puppet) {
    puppet.destroy();
    return {};
  }
  static std::int64_t value(PuppetStage& stage) {
    const auto seen = stage.puppet("a").look({});
    EXPECT_TRUE(seen) << seen;
    return seen ? seen->value() : -1;
  }
  MemoryStore::Row row() const { return table_.look(key); }

  MemoryStore table_;
  test::FaultyStore store_{table_};
  Puppet::Strings strings_;
};

TEST_F(ObjectDestroyTest, TheNextCallFindsANewObject) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(set(stage, 5));
  ASSERT_TRUE(call(stage, destroy));
  EXPECT_TRUE(row().object.is_tombstone) << "before the reply";
  EXPECT_EQ(value(stage), 0);
  EXPECT_EQ(stage.statistics().destroyed_count, 1U);
  ASSERT_TRUE(set(stage, 7));
  EXPECT_EQ(row().object.version, 3U);
  EXPECT_FALSE(row().object.is_tombstone);
  EXPECT_EQ(value(stage), 7);
}

TEST_F(ObjectDestroyTest, AnObjectThatWasNeverStoredCanBeDestroyed) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(call(stage, destroy));
  EXPECT_EQ(value(stage), 0);
}

TEST_F(ObjectDestroyTest, ATombstoneIsForgottenAfterAnHour) {
  PuppetStage stage(store_, strings_, 1, {}, WallClock(noon));
  ASSERT_TRUE(set(stage, 5));
  ASSERT_TRUE(call(stage, destroy));
  ASSERT_TRUE(coroutine::sleep_for(50min));
  EXPECT_EQ(row().epoch, 1U);
  ASSERT_TRUE(coroutine::sleep_for(25min));
  EXPECT_EQ(row().epoch, 0U) << "there is no row";
}

TEST_F(ObjectDestroyTest, AnObjectThatIsReadOnlyForHoursAfterADestructionCanBeWritten) {
  PuppetStage stage(store_, strings_, 1, {}, WallClock(noon));
  ASSERT_TRUE(set(stage, 5));
  ASSERT_TRUE(call(stage, destroy));
  for (int round = 0; round < 60; ++round) {
    EXPECT_EQ(value(stage), 0);
    ASSERT_TRUE(coroutine::sleep_for(2min));
  }
  EXPECT_EQ(row().epoch, 0U) << "its row is forgotten";
  ASSERT_TRUE(set(stage, 8));
  EXPECT_EQ(row().object.version, 1U);
  EXPECT_EQ(stage.statistics().lost_write_count, 0U);
}

TEST_F(ObjectDestroyTest, NoCallSeesAnObjectWhoseTombstoneIsNotStoredYet) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(set(stage, 5));
  store_.cut();
  const auto failed = call(stage, destroy);
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().maybe_executed());
  EXPECT_FALSE(stage.puppet("a").look({}));
  store_.mend();
  EXPECT_EQ(value(stage), 0);
  EXPECT_TRUE(row().object.is_tombstone);
}

TEST_F(ObjectDestroyTest, ADestructionWhoseAnswerIsLostIsMadeOnce) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(set(stage, 5));
  store_.loses_answers_of_writes = true;
  ASSERT_FALSE(call(stage, destroy));
  store_.loses_answers_of_writes = false;
  EXPECT_EQ(value(stage), 0);
  ASSERT_TRUE(set(stage, 6));
  EXPECT_EQ(value(stage), 6);
}

TEST_F(ObjectDestroyTest, AHandlerWithoutAReplyDestroysItsObjectWithinASecond) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(set(stage, 5));
  strings_.run_alone = destroy;
  ASSERT_TRUE(stage.puppet("a").run_alone({}));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_TRUE(row().object.is_tombstone);
  EXPECT_EQ(stage.statistics().active_count, 0U);
}

TEST_F(ObjectDestroyTest, AHandlerThatFailsAfterwardsHasDestroyedItsObject) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(set(stage, 5));
  const auto failed = call(stage, [](Puppet& puppet) -> Result<void> {
    puppet.destroy();
    return Error(Code::not_found, "no reason");
  });
  EXPECT_THAT(failed, fails_with(Code::not_found));
  EXPECT_EQ(value(stage), 0);
}

TEST_F(ObjectDestroyTest, ARetriedDestructionTakesEffectOnce) {
  const rpc::CallOptions once{.request_id = {.caller = "ada", .sequence = 1}};
  int run_count = 0;
  const auto work = [&](Puppet& puppet) -> Result<void> {
    ++run_count;
    return destroy(puppet);
  };
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(set(stage, 5));
  ASSERT_TRUE(call(stage, work, once));
  ASSERT_TRUE(set(stage, 6));
  EXPECT_TRUE(call(stage, work, once));
  EXPECT_EQ(value(stage), 6);
  PuppetStage next(store_, strings_, 2);
  EXPECT_TRUE(call(next, work, once));
  EXPECT_EQ(value(next), 6);
  EXPECT_EQ(run_count, 1);
}

TEST_F(ObjectDestroyTest, HandlersThatWaitWithoutATurnEndAsWhenTheObjectMoves) {
  coroutine::Event never("never");
  PuppetStage stage(store_, strings_);
  strings_.run = [&](Puppet& puppet) -> Result<void> {
    return puppet.wait_for(never, Deadline::never());
  };
  auto waiting = coroutine::spawn("waiting", [&] { return stage.puppet("a").run({}); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  ASSERT_TRUE(call(stage, destroy));
  const auto reply = waiting.join(Deadline::after(1s));
  ASSERT_THAT(reply, fails_with(Code::aborted));
  EXPECT_TRUE(reply.error().maybe_executed());
}

TEST_F(ObjectDestroyTest, TheHandlerThatDestroysItsObjectCannotWaitInItAnyMore) {
  coroutine::Event never("never");
  PuppetStage stage(store_, strings_);
  Result<void> waited;
  const auto reply = call(stage, [&](Puppet& puppet) {
    puppet.destroy();
    waited = puppet.wait_for(never, Deadline::after(1s));
    return waited;
  });
  EXPECT_THAT(waited, fails_with(Code::aborted));
  EXPECT_THAT(reply, fails_with(Code::aborted));
  EXPECT_EQ(value(stage), 0);
}

TEST_F(ObjectDestroyTest, RemindersAreDestroyedAndNoHookRuns) {
  int hook_count = 0;
  strings_.on_deactivate = [&](Puppet&) { ++hook_count; };
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(call(stage, [](Puppet& puppet) {
    return puppet.reminders().at("later", puppet.wall_clock().now() + 10s);
  }));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_TRUE(row().wake_at);
  ASSERT_TRUE(call(stage, destroy));
  EXPECT_FALSE(row().wake_at);
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_EQ(stage.statistics().alarms.reminder_count, 0U);
  EXPECT_EQ(hook_count, 0);
}

TEST_F(ObjectDestroyTest, AnObjectLeavesAtItsOwnWish) {
  int hook_count = 0;
  strings_.on_deactivate = [&](Puppet&) { ++hook_count; };
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(call(stage, [](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(5);
    puppet.deactivate();
    return {};
  }));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(stage.statistics().active_count, 0U);
  EXPECT_EQ(hook_count, 1);
  EXPECT_EQ(row().object.version, 1U) << "its change is stored";
  EXPECT_EQ(value(stage), 5);
}

TEST_F(ObjectDestroyTest, AnObjectThatIsCalledDoesNotLeaveBeforeTheCallHasEnded) {
  PuppetStage stage(store_, strings_);
  coroutine::Event go("go");
  ASSERT_TRUE(call(stage, [](Puppet& puppet) -> Result<void> {
    puppet.deactivate();
    return {};
  }));
  strings_.run = [&](Puppet&) { return go.wait(Deadline::never()); };
  auto waiting = coroutine::spawn("waiting", [&] { return stage.puppet("a").run({}); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(stage.statistics().active_count, 1U);
  go.set();
  EXPECT_TRUE(waiting.join(Deadline::after(1s)));
}

TEST_F(ObjectDestroyTest, AnObjectThatCannotBeStoredStaysInSpiteOfItsWish) {
  PuppetStage stage(store_, strings_);
  ASSERT_TRUE(set(stage, 5));
  store_.cut();
  ASSERT_TRUE(call(stage, [](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(6);
    puppet.deactivate();
    return {};
  }));
  const int tried = store_.write_count;
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_LT(store_.write_count - tried, 30) << "it does not try all the time";
  EXPECT_EQ(value(stage), 6);
}

// A replica that was promoted may lack the last writes of its primary.
class PromotedStore final : public MemoryStore {
 public:
  bool loses_writes = false;

  Result<void> write(const ObjectKey& object, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& write, Deadline deadline) override {
    if (loses_writes) return {};
    return MemoryStore::write(object, epoch, version, write, deadline);
  }
};

TEST_F(ObjectDestroyTest, WritesThatTheStoreHasLostAreReported) {
  PromotedStore store;
  PuppetStage stage(store, strings_);
  ASSERT_TRUE(set(stage, 5));
  store.loses_writes = true;
  ASSERT_TRUE(set(stage, 6));
  ASSERT_TRUE(set(stage, 7));
  store.loses_writes = false;
  const auto failed = set(stage, 8);
  ASSERT_THAT(failed, fails_with(Code::data_loss));
  EXPECT_THAT(failed.error().message(),
              testing::AllOf(HasSubstr("\"a\""), HasSubstr("confirmed version 3"),
                             HasSubstr("has version 1")));
  EXPECT_EQ(stage.statistics().lost_write_count, 1U);
  EXPECT_EQ(value(stage), 5) << "what is left";
  EXPECT_TRUE(set(stage, 9));
}

TEST_F(ObjectDestroyTest, AStoreThatWasEmptiedIsReported) {
  PromotedStore store;
  PuppetStage stage(store, strings_);
  store.loses_writes = true;
  ASSERT_TRUE(set(stage, 6));
  store.loses_writes = false;
  EXPECT_THAT(set(stage, 7), fails_with(Code::data_loss));
  EXPECT_EQ(stage.statistics().lost_write_count, 1U);
  EXPECT_EQ(value(stage), 0);
}

}  // namespace
}  // namespace corolane::framework::detail
