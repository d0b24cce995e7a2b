// SPDX-License-Identifier: MIT
// Handlers that wait without their turn: wait_until() and outside().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "coroutine/base/try.h"
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
using test::PuppetClient;
using test::PuppetStage;

class ObjectWaitingTest : public testing::Test {
 protected:
  using Work = std::function<Result<void>(Puppet&)>;

  Result<void> call(Work work, const rpc::CallOptions& options = {}, const char* id = "a") {
    strings_.run = std::move(work);
    auto called = stage_.puppet(id).run({}, options);
    if (!called) return called.error();
    return {};
  }
  coroutine::Task<void> begin(Work work, Duration time = 1min) {
    auto call = coroutine::spawn("call", [this, work = std::move(work), time] {
      return this->call(work, {.deadline = Deadline::after(time)});
    });
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    return call;
  }
  Result<void> set(std::int64_t value) {
    return call([value](Puppet& puppet) -> Result<void> {
      puppet.change().set_value(value);
      return {};
    });
  }

  MemoryStore store_;
  Puppet::Strings strings_;
  PuppetStage stage_{store_, strings_};
};

Result<void> until_3(Puppet& puppet) {
  COROLANE_TRY(const bool is_true, puppet.wait_until([&] { return puppet.state().value() == 3; }));
  EXPECT_TRUE(is_true);
  EXPECT_EQ(puppet.state().value(), 3) << "in its turn";
  return {};
}

TEST_F(ObjectWaitingTest, APredicateThatIsTrueDoesNotWait) {
  ASSERT_TRUE(set(3));
  const TimePoint start = now();
  EXPECT_TRUE(call(until_3));
  EXPECT_EQ(now(), start);
}

TEST_F(ObjectWaitingTest, ATurnThatMakesThePredicateTrueWakesItsWaiters) {
  auto first = begin(until_3);
  auto second = begin(until_3);
  ASSERT_TRUE(set(2));
  EXPECT_FALSE(first.is_done());
  ASSERT_TRUE(set(3));
  EXPECT_TRUE(first.join(Deadline::after(1s)));
  EXPECT_TRUE(second.join(Deadline::after(1s)));
}

TEST_F(ObjectWaitingTest, ATimerWakesWaiters) {
  auto waiting = begin(until_3);
  ASSERT_TRUE(call([](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(puppet.timers().after(5s, [&puppet] { puppet.change().set_value(3); }));
    return {};
  }));
  const TimePoint start = now();
  EXPECT_TRUE(waiting.join(Deadline::after(10s)));
  EXPECT_EQ(now() - start, 5s);
}

TEST_F(ObjectWaitingTest, APredicateThatIsFalseAgainGoesOnWaiting) {
  auto waiting = begin(until_3);
  auto passing = begin([](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(3);
    return {};
  });
  auto back = coroutine::spawn("call", [&] { return set(4); });
  ASSERT_TRUE(back.join(Deadline::never()));
  ASSERT_TRUE(set(3));
  EXPECT_TRUE(waiting.join(Deadline::after(1s)));
}

TEST_F(ObjectWaitingTest, ADeadlineOfTheHandlerIsNoError) {
  std::optional<bool> is_true;
  EXPECT_TRUE(call([&](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(is_true, puppet.wait_until([] { return false; }, Deadline::after(1s)));
    puppet.change().set_value(7);
    return {};
  }));
  EXPECT_EQ(is_true, false);
  EXPECT_EQ(stage_.puppet("a").look({})->value(), 7);
}

// Otherwise a handler that tries again would spin for ever.
TEST_F(ObjectWaitingTest, TheDeadlineOfTheCallIsAnError) {
  int count = 0;
  EXPECT_THAT(call(
                  [&](Puppet& puppet) -> Result<void> {
                    for (;; ++count) {
                      COROLANE_TRY(puppet.wait_until([] { return false; }, Deadline::after(300ms)));
                    }
                  },
                  {.deadline = Deadline::after(1s)}),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(count, 3);
}

TEST_F(ObjectWaitingTest, APredicateThatThrowsEndsItsOwnCall) {
  auto waiting = begin([](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(puppet.wait_until([&]() -> bool {
      if (puppet.state().value() == 0) return false;
      throw std::runtime_error("as was asked for");
    }));
    return {};
  });
  EXPECT_TRUE(set(1));
  EXPECT_THAT(waiting.join(Deadline::after(1s)), fails_with(Code::internal));
  EXPECT_TRUE(set(2));
}

TEST_F(ObjectWaitingTest, AWaitEndsWhenTheObjectIsDestroyed) {
  auto waiting = begin(until_3);
  EXPECT_TRUE(call([](Puppet& puppet) -> Result<void> {
    puppet.destroy();
    return {};
  }));
  EXPECT_FALSE(waiting.join(Deadline::after(1s)));
}

TEST_F(ObjectWaitingTest, OthersHaveTheirTurnsDuringWorkOutside) {
  auto working = begin([](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(const int seven, puppet.outside([]() -> Result<int> {
      COROLANE_TRY(coroutine::sleep_for(10s));
      return 7;
    }));
    puppet.change().set_value(puppet.state().value() + seven);
    return {};
  });
  const TimePoint start = now();
  EXPECT_TRUE(set(3));
  EXPECT_EQ(now(), start);
  EXPECT_TRUE(working.join(Deadline::never()));
  EXPECT_EQ(stage_.puppet("a").look({})->value(), 10);
}

TEST_F(ObjectWaitingTest, ACallBackIsNoCycleDuringWorkOutside) {
  const auto call_b = [](Puppet& puppet) -> Result<void> {
    if (puppet.id() == "b") {
      // Calls back, which would be a deadlock if "a" had its turn.
      return puppet.state().value() == 0 ? [&]() -> Result<void> {
        COROLANE_TRY(PuppetClient(puppet.router(), "a").look({}));
        return {};
      }()
                                         : Result<void>();
    }
    return puppet.outside([&]() -> Result<void> {
      COROLANE_TRY(PuppetClient(puppet.router(), "b").run({}));
      return {};
    });
  };
  EXPECT_TRUE(call(call_b));
  EXPECT_THAT(call([&](Puppet& puppet) -> Result<void> {
                if (puppet.id() == "b") return call_b(puppet);
                COROLANE_TRY(PuppetClient(puppet.router(), "b").run({}));
                return {};
              }),
              fails_with(Code::failed_precondition));
}

TEST_F(ObjectWaitingTest, WorkOutsideEndsAtItsDeadline) {
  EXPECT_TRUE(call([](Puppet& puppet) -> Result<void> {
    EXPECT_THAT(puppet.outside([] { return coroutine::sleep_for(10s); }, Deadline::after(1s)),
                fails_with(Code::deadline_exceeded));
    puppet.change().set_value(1);
    return {};
  }));
  EXPECT_EQ(stage_.puppet("a").look({})->value(), 1);
}

// The call finds an object of an earlier ownership, which is dropped when its handlers have left:
// also the one that has made this call.
TEST_F(ObjectWaitingTest, WorkOutsideThatCallsItsOwnStaleObjectEnds) {
  for (const bool in_a_task_of_its_own : {false, true}) {
    const std::uint64_t epoch = in_a_task_of_its_own ? 3 : 2;
    auto calling = begin([&](Puppet& puppet) -> Result<void> {
      return puppet.outside([&]() -> Result<void> {
        COROLANE_TRY(coroutine::sleep_for(1s));
        const auto look = [&]() -> Result<void> {
          COROLANE_TRY(PuppetClient(puppet.router(), "a").look({}));
          return {};
        };
        if (!in_a_task_of_its_own) return look();
        return coroutine::spawn("look", look).join(Deadline::never());
      });
    });
    stage_.own_all(epoch);
    EXPECT_FALSE(calling.join(Deadline::after(5s)));
    EXPECT_TRUE(set(1));
  }
}

TEST_F(ObjectWaitingTest, WorkOutsideThatThrowsLeavesTheObjectUsable) {
  EXPECT_THAT(call([](Puppet& puppet) -> Result<void> {
                return puppet.outside([]() -> Result<void> { throw std::runtime_error("no"); });
              }),
              fails_with(Code::internal));
  EXPECT_TRUE(set(1));
}

TEST_F(ObjectWaitingTest, ATypeHasAMailboxOfItsOwnSize) {
  PuppetStage stage(store_, strings_, 2, {.mailbox_max = 1'000}, {}, {.mailbox_max = 1});
  strings_.run = [](Puppet&) { return coroutine::sleep_for(1s); };
  auto first = coroutine::spawn("call", [&] { return stage.puppet("b").run({}); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_THAT(stage.puppet("b").run({}), fails_with(Code::resource_exhausted));
  EXPECT_TRUE(first.join(Deadline::never()));
}

TEST_F(ObjectWaitingTest, ATypeHasAnIdleTimeAndADelayOfWritesOfItsOwn) {
  PuppetStage stage(store_, strings_, 2, {}, {},
                    {.idle_time_max = 3s, .save_after = std::chrono::milliseconds(20)});
  strings_.run = [](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(1);
    return {};
  };
  ASSERT_TRUE(stage.puppet("b").run({}));
  ASSERT_TRUE(coroutine::sleep_for(30ms));
  EXPECT_EQ(stage.statistics().save_count, 1U);
  EXPECT_EQ(stage.statistics().active_count, 1U);
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_EQ(stage.statistics().active_count, 0U);
}

}  // namespace
}  // namespace corolane::framework::detail
