// SPDX-License-Identifier: MIT
// Durable handlers that fail, and changes through references that were kept for too long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>

#include "coroutine/base/try.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/sanitizers.h"
#include "framework/store/memory_store.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::Puppet;
using test::PuppetStage;

class ObjectUndoTest : public testing::Test {
 protected:
  using Work = std::function<Result<void>(Puppet&)>;

  static constexpr WallTime noon{1'700'000'000'000ms};
  static constexpr ObjectKey key = {.type = "corolane.test.Puppet", .id = "a"};

  static Error failed() { return Error(Code::failed_precondition, "as was asked for"); }

  Result<void> call(Work work) {
    strings_.run = std::move(work);
    auto called = stage_.puppet("a").run({});
    if (!called) return called.error();
    return {};
  }
  Result<void> call_for_good(Work work) {
    strings_.run = std::move(work);
    auto called = stage_.puppet("a").run_for_good({});
    if (!called) return called.error();
    return {};
  }
  Result<void> set_for_good(std::int64_t value) {
    return call_for_good([value](Puppet& puppet) -> Result<void> {
      puppet.change().set_value(value);
      return {};
    });
  }
  std::int64_t value() {
    const auto seen = stage_.puppet("a").look({});
    EXPECT_TRUE(seen) << seen;
    return seen ? seen->value() : -1;
  }
  std::uint64_t version() const { return table_.look(key).object.version; }

  MemoryStore table_;
  test::FaultyStore store_{table_};
  Puppet::Strings strings_;
  PuppetStage stage_{store_, strings_, 1, {}, WallClock(noon)};
};

TEST_F(ObjectUndoTest, ADurableHandlerThatFailsLeavesNothingBehind) {
  ASSERT_TRUE(set_for_good(5));
  EXPECT_THAT(call_for_good([](Puppet& puppet) -> Result<void> {
                puppet.change().set_value(6);
                EXPECT_TRUE(puppet.reminders().at("later", noon + 1h));
                return failed();
              }),
              fails_with(Code::failed_precondition));
  EXPECT_EQ(value(), 5);
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(version(), 1U) << "nothing to store";
  ASSERT_TRUE(call([](Puppet& puppet) -> Result<void> {
    EXPECT_EQ(puppet.reminders().find("later"), std::nullopt);
    return {};
  }));
}

TEST_F(ObjectUndoTest, AnExceptionLeavesNothingBehind) {
  ASSERT_TRUE(set_for_good(5));
  EXPECT_THAT(call_for_good([](Puppet& puppet) -> Result<void> {
                puppet.change().set_value(6);
                throw std::runtime_error("as was asked for");
              }),
              fails_with(Code::internal));
  EXPECT_EQ(value(), 5);
}

TEST_F(ObjectUndoTest, ALateHandlerLeavesNothingBehind) {
  ASSERT_TRUE(set_for_good(5));
  strings_.run = [](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(6);
    return coroutine::sleep_for(1h);
  };
  EXPECT_THAT(stage_.puppet("a").run_for_good({}, {.deadline = Deadline::after(1s)}),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(value(), 5);
}

TEST_F(ObjectUndoTest, ARemainingReminderIsUnchanged) {
  ASSERT_TRUE(
      call_for_good([](Puppet& puppet) { return puppet.reminders().at("later", noon + 1h); }));
  EXPECT_FALSE(call_for_good([](Puppet& puppet) -> Result<void> {
    puppet.reminders().cancel("later");
    EXPECT_TRUE(puppet.reminders().at("sooner", noon + 1min));
    return failed();
  }));
  ASSERT_TRUE(call([](Puppet& puppet) -> Result<void> {
    EXPECT_EQ(puppet.reminders().find("later"), noon + 1h);
    EXPECT_EQ(puppet.reminders().find("sooner"), std::nullopt);
    return {};
  }));
}

TEST_F(ObjectUndoTest, WhatWasSavedStays) {
  EXPECT_FALSE(call_for_good([](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(1);
    COROLANE_TRY(puppet.save());
    puppet.change().set_value(2);
    return failed();
  }));
  EXPECT_EQ(value(), 1);
}

TEST_F(ObjectUndoTest, WhatOthersHaveSeenStays) {
  EXPECT_FALSE(call_for_good([](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(1);
    COROLANE_TRY(puppet.outside([] { return coroutine::sleep_for(1s); }));
    puppet.change().set_value(2);
    return failed();
  }));
  EXPECT_EQ(value(), 1);
}

TEST_F(ObjectUndoTest, AChangeThatIsNotStoredYetStays) {
  ASSERT_TRUE(call([](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(1);
    return {};
  }));
  EXPECT_FALSE(call_for_good([](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(2);
    return failed();
  }));
  EXPECT_EQ(value(), 1);
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(version(), 1U);
}

// The store has the change, although the handler does not know.
TEST_F(ObjectUndoTest, AnUndoneChangeThatWasStoredIsOverwritten) {
  ASSERT_TRUE(set_for_good(5));
  store_.set_after_write([](const ObjectKey&) -> Result<void> {
    return Error(Code::unavailable, "the answer is lost").with_maybe_executed();
  });
  EXPECT_FALSE(call_for_good([](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(6);
    return puppet.save();
  }));
  store_.set_after_write(nullptr);
  EXPECT_EQ(value(), 5);
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(version(), 3U);
  PuppetStage next(store_, strings_, 2);
  EXPECT_EQ(next.puppet("a").look({})->value(), 5);
}

TEST_F(ObjectUndoTest, ADestroyedObjectLivesOnWhenTheHandlerFails) {
  ASSERT_TRUE(set_for_good(5));
  EXPECT_FALSE(call_for_good([](Puppet& puppet) -> Result<void> {
    puppet.destroy();
    return failed();
  }));
  EXPECT_EQ(value(), 5);
  EXPECT_EQ(stage_.statistics().destroyed_count, 0U);
}

TEST_F(ObjectUndoTest, AHandlerThatIsNotDurableLeavesItsChange) {
  EXPECT_FALSE(call([](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(1);
    return failed();
  }));
  EXPECT_EQ(value(), 1);
}

Result<void> change_through_an_old_reference(Puppet& puppet) {
  auto& state = puppet.change();
  state.set_value(1);
  COROLANE_TRY(puppet.save());
  state.set_value(2);
  return {};
}

#ifdef NDEBUG
TEST_F(ObjectUndoTest, AChangeThroughAReferenceThatWasKeptOverAWriteIsStoredBeforeADurableReply) {
  ASSERT_TRUE(call_for_good(change_through_an_old_reference));
  PuppetStage next(store_, strings_, 2);
  EXPECT_EQ(next.puppet("a").look({})->value(), 2);
}
#else
TEST_F(ObjectUndoTest, AChangeThroughAReferenceThatWasKeptOverAWriteEndsADebugBuild) {
  if (test::under_thread_sanitizer) GTEST_SKIP() << "no death tests";
  EXPECT_DEATH(static_cast<void>(call_for_good(change_through_an_old_reference)),
               "call change\\(\\) again");
  EXPECT_DEATH(static_cast<void>(call(change_through_an_old_reference)), "call change\\(\\) again");
}
#endif

}  // namespace
}  // namespace corolane::framework::detail
