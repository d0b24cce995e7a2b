// SPDX-License-Identifier: MIT
// Objects leave their host because they are idle, lost, moving or above the budget.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
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
using test::wait_request;
using Shard = test::CounterShard;

class ObjectLeavingTest : public testing::Test {
 protected:
  MemoryStore table_;
  test::FaultyStore store_{table_};
};

TEST_F(ObjectLeavingTest, IdleObjectsAreDeactivatedAndReloaded) {
  Shard shard(store_, 1, {.idle_time_max = 1min});
  ASSERT_TRUE(shard.counter("a").add(add_request(5)));
  ASSERT_TRUE(coroutine::sleep_for(2min));
  EXPECT_EQ(shard.host.statistics().active_count, 0U);
  EXPECT_EQ(shard.host.statistics().memory_bytes, 0U);
  EXPECT_EQ(shard.counter("a").get({})->value(), 5);
}

TEST_F(ObjectLeavingTest, MemoryAboveTheBudgetEvictsIdleObjects) {
  Shard shard(store_, 1, {.memory_bytes_max = 20'000});
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(shard.counter(std::to_string(i)).add(add_request(i)));
  }
  EXPECT_GT(shard.host.statistics().memory_bytes, 20'000U);
  ASSERT_TRUE(coroutine::sleep_for(3s));
  EXPECT_LE(shard.host.statistics().memory_bytes, 20'000U);
  EXPECT_EQ(shard.counter("1").get({})->value(), 1);
}

TEST_F(ObjectLeavingTest, ASaveAtDeactivationIsCounted) {
  Shard shard(store_, 1);
  ASSERT_TRUE(shard.counter("a").add(add_request(1)));
  ASSERT_TRUE(shard.host.stop(Deadline::after(1s)));
  EXPECT_EQ(shard.host.statistics().save_count, 1U);
  EXPECT_EQ(shard.host.statistics().deactivation_count, 1U);
}

TEST_F(ObjectLeavingTest, StoppingStoresUnsavedChanges) {
  {
    Shard shard(store_, 1);
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(shard.counter(std::to_string(i)).add(add_request(i)));
    }
    ASSERT_TRUE(shard.host.stop(Deadline::after(1s)));
    EXPECT_EQ(shard.host.statistics().active_count, 0U);
  }
  Shard next(store_, 2);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(next.counter(std::to_string(i)).get({})->value(), i);
}

TEST_F(ObjectLeavingTest, ACallThatWaitsForAnEventFailsWhenTheObjectMoves) {
  Shard shard(store_, 1);
  auto call = coroutine::spawn("call", [&] { return shard.counter("a").await(wait_request(1)); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const Partition partition = partition_of("corolane.test.Counter", "a");
  EXPECT_TRUE(
      shard.host.release(shard.ownership, std::array{partition}, Deadline::after(50ms)).empty());
  EXPECT_EQ(shard.host.statistics().active_count, 0U);
  shard.ownership.set_epoch(partition, 0);
  shard.host.resume(shard.ownership, std::array{partition});
  // Its router looks for the next owner until the deadline.
  EXPECT_THAT(call.join(Deadline::never()), fails_with(Code::unavailable));
}

TEST_F(ObjectLeavingTest, ACallThatChangedAnObjectBeforeItMovedIsMarkedMaybeExecuted) {
  coroutine::Event never("never");
  int run_count = 0;
  test::Puppet::Strings strings;
  strings.run = [&](test::Puppet& puppet) -> Result<void> {
    ++run_count;
    puppet.change().set_value(1);
    if (auto waited = puppet.wait_for(never, Deadline::never()); !waited) return waited;
    return {};
  };
  test::PuppetStage stage(store_, strings);
  auto call = coroutine::spawn("call", [&] { return stage.puppet("a").run({}); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const Partition partition = partition_of("corolane.test.Puppet", "a");
  stage.host.release(stage.ownership, std::array{partition}, Deadline::after(50ms));
  stage.host.resume(stage.ownership, std::array{partition});
  const auto reply = call.join(Deadline::never());
  ASSERT_THAT(reply, fails_with(Code::aborted));
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_EQ(run_count, 1);
}

TEST_F(ObjectLeavingTest, AHandlerThatWaitsAgainWithoutItsTurnGetsTheSameError) {
  test::Puppet::Strings strings;
  strings.run = [&](test::Puppet& puppet) -> Result<void> {
    const auto first = puppet.wait_until([] { return false; });
    const auto second = puppet.wait_until([] { return false; });
    EXPECT_EQ(first.error().code(), second.error().code());
    return {};
  };
  test::PuppetStage stage(store_, strings);
  auto moved = coroutine::spawn("call", [&] { return stage.puppet("a").run({}); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const Partition partition = partition_of("corolane.test.Puppet", "a");
  stage.host.release(stage.ownership, std::array{partition}, Deadline::after(50ms));
  stage.host.resume(stage.ownership, std::array{partition});
  EXPECT_THAT(moved.join(Deadline::never()), fails_with(Code::aborted));
  const auto late = stage.puppet("b").run({}, {.deadline = Deadline::after(1s)});
  EXPECT_THAT(late, fails_with(Code::deadline_exceeded));
}

TEST_F(ObjectLeavingTest, AHandlerOfALostObjectIsCancelled) {
  Shard shard(store_, 1);
  auto call = coroutine::spawn("call", [&] { return shard.counter("a").add(add_request(1, 1h)); });
  auto waiting = coroutine::spawn("call", [&] { return shard.counter("a").add(add_request(1)); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const TimePoint lost_at = now();
  shard.fence.set(TimePoint::min());
  shard.host.drop_all();
  EXPECT_EQ(now(), lost_at);
  // The router retries the call that was not executed with the next owner, until the deadline.
  const auto reply = call.join(Deadline::never());
  ASSERT_FALSE(reply);
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_FALSE(waiting.join(Deadline::never()));
}

TEST_F(ObjectLeavingTest, ABusyPartitionIsNotReleased) {
  Shard shard(store_, 1);
  auto call =
      coroutine::spawn("call", [&] { return shard.counter("a").add(add_request(1, 200ms)); });
  ASSERT_TRUE(shard.counter("b").add(add_request(1)));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  const std::array partitions{partition_of("corolane.test.Counter", "a"),
                              partition_of("corolane.test.Counter", "b")};
  const auto kept = shard.host.release(shard.ownership, partitions, Deadline::after(50ms));
  EXPECT_THAT(kept, testing::ElementsAre(partitions[0]));
  shard.host.resume(shard.ownership, partitions);
  EXPECT_EQ(call.join(Deadline::never())->value(), 1);
  EXPECT_TRUE(shard.host.release(shard.ownership, partitions, Deadline::after(50ms)).empty());
  shard.host.resume(shard.ownership, partitions);
  EXPECT_EQ(shard.counter("a").get({})->value(), 1);
}

TEST_F(ObjectLeavingTest, AnUnstoredPartitionIsNotReleased) {
  Shard shard(store_, 1);
  ASSERT_TRUE(shard.counter("a").add(add_request(1)));
  const std::array partitions{partition_of("corolane.test.Counter", "a")};
  store_.cut();
  EXPECT_EQ(shard.host.release(shard.ownership, partitions, Deadline::after(50ms)).size(), 1U);
  shard.host.resume(shard.ownership, partitions);
  store_.mend();
  // A write may outlast the time limit of a call.
  store_.delay = 200ms;
  EXPECT_TRUE(shard.host.release(shard.ownership, partitions, Deadline::after(50ms)).empty());
  Shard next(store_, 2);
  EXPECT_EQ(next.counter("a").get({})->value(), 1);
}

TEST_F(ObjectLeavingTest, AnExceptionDuringDeactivationIsCountedAndTheObjectLeaves) {
  test::Puppet::Strings strings;
  strings.run = [](test::Puppet& puppet) {
    puppet.change().set_value(7);
    return Result<void>();
  };
  strings.on_deactivate = [](test::Puppet&) { throw std::runtime_error("as the test wants"); };
  test::PuppetStage stage(store_, strings, 1, {.idle_time_max = 1s});
  ASSERT_TRUE(stage.puppet("a").run({}));
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_EQ(stage.statistics().active_count, 0U);
  EXPECT_EQ(stage.statistics().deactivation_count, 1U);
  EXPECT_EQ(stage.statistics().stray_exception_count, 1U);
  EXPECT_EQ(stage.puppet("a").look({})->value(), 7) << "it was stored";
}

TEST_F(ObjectLeavingTest, ACallerThatGivesUpDestroysNoObjectUnderAHandler) {
  coroutine::Event never("never");
  test::Puppet::Strings strings;
  strings.run = [&](test::Puppet& puppet) -> Result<void> {
    auto waited = puppet.wait_for(never, Deadline::never());
    // The handler still has other work to finish.
    static_cast<void>(coroutine::sleep_for(1s));
    puppet.change().set_value(puppet.state().value() + 1);
    return waited;
  };
  test::PuppetStage stage(store_, strings);
  auto inside = coroutine::spawn("call", [&] { return stage.puppet("a").run({}); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  stage.own_all(2);
  auto next = coroutine::spawn("call", [&] { return stage.puppet("a").look({}); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  next.cancel();
  static_cast<void>(next.join(Deadline::never()));
  EXPECT_FALSE(inside.join(Deadline::never()));
  EXPECT_EQ(stage.puppet("a").look({})->value(), 0);
}

// --- Hooks that do not behave -----------------------------------------------------------------

class LastHookTest : public testing::Test {
 protected:
  static Partition partition_of_puppet(std::string_view id) {
    return partition_of("corolane.test.Puppet", id);
  }
  std::vector<Partition> release(test::PuppetStage& stage) {
    return stage.host.release(stage.ownership,
                              std::array{partition_of_puppet("a"), partition_of_puppet("b")},
                              Deadline::after(20ms));
  }
  void resume(test::PuppetStage& stage) {
    stage.host.resume(stage.ownership,
                      std::array{partition_of_puppet("a"), partition_of_puppet("b")});
  }

  MemoryStore table_;
  test::FaultyStore store_{table_};
  test::Puppet::Strings strings_;
};

TEST_F(LastHookTest, AHookThatDoesNotEndIsCancelledAfterASecond) {
  strings_.on_deactivate = [](test::Puppet&) { static_cast<void>(coroutine::sleep_for(1h)); };
  test::PuppetStage stage(store_, strings_);
  ASSERT_TRUE(stage.puppet("a").run({}));
  const TimePoint start = now();
  EXPECT_THAT(release(stage), testing::IsEmpty());
  EXPECT_EQ(now() - start, 1s);
  EXPECT_EQ(stage.statistics().active_count, 0U);
  resume(stage);
}

TEST_F(LastHookTest, AHookThatIgnoresItsCancellationKeepsItsOwnObjectAlone) {
  coroutine::Event end("end");
  strings_.on_deactivate = [&](test::Puppet& puppet) {
    if (puppet.id() == "a") end.wait_uncancelled(Deadline::never());
  };
  test::PuppetStage stage(store_, strings_);
  ASSERT_TRUE(stage.puppet("a").run({}));
  ASSERT_TRUE(stage.puppet("b").run({}));
  const TimePoint start = now();
  EXPECT_THAT(release(stage), testing::ElementsAre(partition_of_puppet("a")));
  EXPECT_LE(now() - start, 3s);
  EXPECT_EQ(stage.statistics().active_count, 1U);
  resume(stage);
  EXPECT_TRUE(stage.puppet("b").run({}, {.deadline = Deadline::after(1s)}));
  EXPECT_THAT(stage.puppet("a").run({}, {.deadline = Deadline::after(1s)}),
              fails_with(Code::deadline_exceeded));
  end.set();
  EXPECT_TRUE(stage.puppet("a").run({}));
}

TEST_F(LastHookTest, AHookThatIgnoresItsCancellationDoesNotKeepOtherIdleObjectsInMemory) {
  coroutine::Event end("end");
  strings_.on_deactivate = [&](test::Puppet& puppet) {
    if (puppet.id() == "a") end.wait_uncancelled(Deadline::never());
  };
  test::PuppetStage stage(store_, strings_, 1, {.idle_time_max = 10s});
  ASSERT_TRUE(stage.puppet("a").run({}));
  ASSERT_TRUE(stage.puppet("b").run({}));
  ASSERT_TRUE(coroutine::sleep_for(5s));
  ASSERT_TRUE(stage.puppet("c").run({}));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_EQ(stage.statistics().active_count, 1U);
  end.set();
}

TEST_F(LastHookTest, AHandlerIsToldToLeaveUntilTheLastOfTwoTasksHasClosedItsObject) {
  coroutine::Event end("end");
  strings_.run = [&](test::Puppet& puppet) {
    puppet.change().set_value(7);
    return puppet.outside([&] {
      end.wait_uncancelled(Deadline::never());
      return Result<void>();
    });
  };
  strings_.on_deactivate = [](test::Puppet&) { static_cast<void>(coroutine::sleep_for(300ms)); };
  test::PuppetStage stage(store_, strings_);
  auto inside = coroutine::spawn("call", [&] { return stage.puppet("a").run({}); });
  const std::array partitions = {partition_of_puppet("a")};
  const auto close = [&](std::vector<Partition>& kept) {
    return coroutine::spawn("close", [&] {
      kept = stage.host.release(stage.ownership, partitions, Deadline::after(10s));
    });
  };
  std::vector<Partition> kept_by_first;
  std::vector<Partition> kept_by_second = {partitions[0]};
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  store_.cut();
  auto first = close(kept_by_first);
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  auto second = close(kept_by_second);
  ASSERT_TRUE(first.join(Deadline::never()));
  EXPECT_THAT(kept_by_first, testing::ElementsAre(partitions[0]));
  store_.mend();
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  end.set();  // The second has the turn.
  EXPECT_TRUE(second.join(Deadline::after(1s))) << "it does not wait for the handler's deadline";
  EXPECT_THAT(kept_by_second, testing::IsEmpty());
  EXPECT_FALSE(inside.join(Deadline::never()));
  EXPECT_EQ(stage.statistics().active_count, 0U);
  resume(stage);
}

TEST_F(LastHookTest, AHookThatCallsAnObjectThatMovesAlongIsRefusedAtOnce) {
  Result<void> told;
  test::PuppetStage stage(store_, strings_);
  strings_.on_deactivate = [&](test::Puppet& puppet) {
    if (puppet.id() != "a") return;
    auto called = test::PuppetClient(puppet.router(), "c").run({});
    told = called ? Result<void>() : called.error();
  };
  ASSERT_TRUE(stage.puppet("a").run({}));
  const Partition partition = partition_of_puppet("c");
  const TimePoint start = now();
  EXPECT_TRUE(stage.host
                  .release(stage.ownership, std::array{partition_of_puppet("a"), partition},
                           Deadline::after(20ms))
                  .empty());
  EXPECT_EQ(now() - start, 0s);
  ASSERT_THAT(told, fails_with(Code::unavailable));
  EXPECT_THAT(told.error().message(), testing::HasSubstr("on_deactivate(\"a\")"));
  stage.host.resume(stage.ownership, std::array{partition_of_puppet("a"), partition});
}

TEST_F(LastHookTest, AnActivationThatDoesNotEndIsCancelledAtTheDeadlineOfItsCall) {
  strings_.on_activate = [](test::Puppet&) { return coroutine::sleep_for(1h); };
  test::PuppetStage stage(store_, strings_);
  const TimePoint start = now();
  EXPECT_FALSE(stage.puppet("a").run({}, {.deadline = Deadline::after(2s)}));
  EXPECT_EQ(now() - start, 2s);
  strings_.on_activate = nullptr;
  EXPECT_TRUE(stage.puppet("a").run({}));
}

TEST_F(LastHookTest, AnObjectOfAFencedNodeCallsNoOtherObject) {
  test::PuppetStage stage(store_, strings_);
  Result<void> called;
  bool is_nested = false;
  strings_.run = [&](test::Puppet& puppet) -> Result<void> {
    if (std::exchange(is_nested, true)) return {};
    stage.fence.set(TimePoint::min());
    auto reply = test::PuppetClient(puppet.router(), "b").run({});
    called = reply ? Result<void>() : reply.error();
    return {};
  };
  EXPECT_FALSE(stage.puppet("a").run({}, {.deadline = Deadline::after(1s)}));
  ASSERT_THAT(called, fails_with(Code::aborted));
  EXPECT_TRUE(called.error().not_executed());
}

}  // namespace
}  // namespace corolane::framework::detail
