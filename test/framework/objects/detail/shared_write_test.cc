// SPDX-License-Identifier: MIT
// Durable calls that queue on one object share a write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/try.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "framework/wire/objects.pb.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::Puppet;
using test::PuppetClient;
using test::PuppetStage;

class SharedWriteTest : public testing::Test {
 protected:
  using Work = std::function<Result<void>(Puppet&)>;

  // Each write takes 10 ms.
  SharedWriteTest() {
    strings_.run = [this](Puppet& puppet) -> Result<void> {
      const Work work = std::move(works_.front());
      works_.erase(works_.begin());
      return work(puppet);
    };
    store_.set_before_write([this](const ObjectKey& key) -> Result<void> {
      if (key.id == "a") ++write_count_;
      return coroutine::sleep_for(10ms);
    });
  }

  static Result<void> add_one(Puppet& puppet) {
    puppet.change().set_value(puppet.state().value() + 1);
    return {};
  }
  // The calls that begin now queue for a millisecond.
  void hold_turn() {
    works_.push_back([](Puppet&) { return coroutine::sleep_for(1ms); });
    holding_ = coroutine::spawn("hold", [this] { EXPECT_TRUE(stage_.puppet("a").run({})); });
  }
  // Calls begin in this order.
  void begin(Work work) {
    works_.push_back(std::move(work));
    const std::size_t index = results_.size();
    results_.push_back(Error(Code::unknown, "not yet"));
    ended_at_.push_back(TimePoint{});
    calls_.push_back(coroutine::spawn("call", [this, index] {
      auto called = stage_.puppet("a").run_for_good({});
      results_[index] = called ? Result<void>() : Result<void>(called.error());
      ended_at_[index] = now();
    }));
  }
  void join() {
    for (auto& call : calls_) EXPECT_TRUE(call.join(Deadline::after(1min)));
    calls_.clear();
  }
  std::int64_t stored() const {
    ObjectRecord record;
    test::PuppetState state;
    EXPECT_TRUE(record.ParseFromString(
        table_.look({.type = "corolane.test.Puppet", .id = "a"}).object.bytes));
    EXPECT_TRUE(state.ParseFromString(record.state()));
    return state.value();
  }

  MemoryStore table_;
  test::FaultyStore store_{table_};
  Puppet::Strings strings_;
  PuppetStage stage_{store_, strings_};
  std::vector<Work> works_;
  coroutine::Task<void> holding_;
  std::vector<coroutine::Task<void>> calls_;
  std::vector<Result<void>> results_;
  std::vector<TimePoint> ended_at_;
  int write_count_ = 0;
};

TEST_F(SharedWriteTest, AHundredCallsTakeAFewWrites) {
  hold_turn();
  const TimePoint start = now();
  for (int i = 0; i < 100; ++i) begin(add_one);
  join();
  for (const auto& result : results_) EXPECT_TRUE(result) << result;
  EXPECT_EQ(stored(), 100);
  EXPECT_EQ(write_count_, 1);
  EXPECT_EQ(now() - start, 11ms);
}

TEST_F(SharedWriteTest, ACallAloneIsStoredInItsTurn) {
  begin(add_one);
  join();
  begin(add_one);
  join();
  EXPECT_EQ(write_count_, 2);
}

TEST_F(SharedWriteTest, AReplyWaitsForItsWriteButNotForALaterHandler) {
  hold_turn();
  begin(add_one);
  begin([](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(add_one(puppet));
    return coroutine::sleep_for(1s);
  });
  const TimePoint start = now();
  join();
  EXPECT_EQ(ended_at_[0] - start, 11ms);
  EXPECT_EQ(ended_at_[1] - start, 1'011ms);
}

TEST_F(SharedWriteTest, AHandlerThatRunsOrFailsIsLeftOut) {
  hold_turn();
  begin(add_one);
  begin([this](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(100);
    EXPECT_TRUE(coroutine::sleep_for(50ms));
    EXPECT_EQ(stored(), 1);
    return Error(Code::failed_precondition, "as was asked for");
  });
  begin(add_one);
  join();
  EXPECT_TRUE(results_[0]);
  EXPECT_THAT(results_[1], fails_with(Code::failed_precondition));
  EXPECT_TRUE(results_[2]);
  EXPECT_EQ(stored(), 2);
}

TEST_F(SharedWriteTest, RemindersOfARunningHandlerAreLeftOut) {
  hold_turn();
  const auto later = stage_.host.alarms().clock().now() + 1h;
  begin([&](Puppet& puppet) { return puppet.reminders().at("first", later); });
  begin([&](Puppet& puppet) -> Result<void> {
    puppet.reminders().cancel("first");
    EXPECT_TRUE(puppet.reminders().at("second", later));
    EXPECT_TRUE(coroutine::sleep_for(50ms));
    ObjectRecord record;
    EXPECT_TRUE(record.ParseFromString(
        table_.look({.type = "corolane.test.Puppet", .id = "a"}).object.bytes));
    EXPECT_EQ(record.reminders_size(), 1);
    EXPECT_EQ(record.reminders(0).name(), "first");
    return {};
  });
  join();
  EXPECT_TRUE(results_[1]) << results_[1];
}

// Its change waits for the write of the first call.
TEST_F(SharedWriteTest, ARequestIdIsStoredWithItsChange) {
  hold_turn();
  begin(add_one);
  works_.push_back(add_one);
  auto last = coroutine::spawn("call", [this] {
    EXPECT_TRUE(
        stage_.puppet("a").run_for_good({}, {.request_id = {.caller = "anna", .sequence = 1}}));
  });
  store_.set_after_write([this](const ObjectKey&) -> Result<void> {
    ObjectRecord record;
    EXPECT_TRUE(record.ParseFromString(
        table_.look({.type = "corolane.test.Puppet", .id = "a"}).object.bytes));
    EXPECT_EQ(record.callers_size(), stored() == 2 ? 1 : 0);
    return {};
  });
  join();
  EXPECT_TRUE(last.join(Deadline::never()));
  EXPECT_EQ(stored(), 2);
}

TEST_F(SharedWriteTest, AReaderSeesNothingThatIsOnItsWay) {
  hold_turn();
  begin(add_one);
  begin(add_one);
  EXPECT_TRUE(coroutine::sleep_for(2ms));
  const TimePoint start = now();
  EXPECT_EQ(stage_.puppet("a").look({})->value(), 2);
  EXPECT_GT(now(), start) << "it has waited for the store";
  EXPECT_EQ(stored(), 2);
  join();
}

TEST_F(SharedWriteTest, AnErrorWaitsForWhatItReveals) {
  hold_turn();
  begin(add_one);
  begin([](Puppet& puppet) {
    return Error(Code::failed_precondition, std::to_string(puppet.state().value()));
  });
  const TimePoint start = now();
  join();
  EXPECT_THAT(results_[1], fails_with(Code::failed_precondition));
  EXPECT_EQ(ended_at_[1] - start, 11ms);
}

TEST_F(SharedWriteTest, ACallOfAnotherObjectWaitsForWhatItMayReveal) {
  hold_turn();
  begin(add_one);
  begin([this](Puppet& puppet) -> Result<void> {
    EXPECT_EQ(puppet.state().value(), 1);
    EXPECT_TRUE(table_.look({.type = "corolane.test.Puppet", .id = "a"}).object.bytes.empty());
    COROLANE_TRY(PuppetClient(puppet.router(), "b").look({}));
    EXPECT_EQ(stored(), 1);
    return {};
  });
  join();
  EXPECT_TRUE(results_[1]) << results_[1];
}

TEST_F(SharedWriteTest, AFailedWriteFailsAllThatShareIt) {
  hold_turn();
  store_.set_before_write([](const ObjectKey&) -> Result<void> {
    EXPECT_TRUE(coroutine::sleep_for(10ms));
    return Error(Code::unavailable, "the store is away");
  });
  for (int i = 0; i < 5; ++i) begin(add_one);
  join();
  for (const auto& result : results_) {
    ASSERT_THAT(result, fails_with(Code::unavailable));
    EXPECT_TRUE(result.error().maybe_executed());
  }
  EXPECT_THAT(stage_.puppet("a").look({}), fails_with(Code::unavailable)) << "hidden until stored";
  store_.set_before_write(nullptr);
  EXPECT_EQ(stage_.puppet("a").look({})->value(), 5);
  EXPECT_EQ(stored(), 5);
}

TEST_F(SharedWriteTest, ACallerThatGivesUpHarmsNoOther) {
  hold_turn();
  begin(add_one);
  begin(add_one);
  begin(add_one);
  EXPECT_TRUE(coroutine::sleep_for(2ms));
  calls_[1].cancel();
  join();
  EXPECT_TRUE(results_[0]) << results_[0];
  EXPECT_FALSE(results_[1]);
  EXPECT_TRUE(results_[2]) << results_[2];
  EXPECT_EQ(stored(), 3);
}

TEST_F(SharedWriteTest, AnObjectThatIsDestroyedBehindOthersIsStoredAfterThem) {
  hold_turn();
  begin(add_one);
  begin(add_one);
  begin([](Puppet& puppet) -> Result<void> {
    puppet.destroy();
    return {};
  });
  begin(add_one);
  join();
  for (const auto& result : results_) EXPECT_TRUE(result) << result;
  EXPECT_EQ(stored(), 1) << "of the next object";
}

TEST_F(SharedWriteTest, AMovingObjectTakesAllAlong) {
  hold_turn();
  for (int i = 0; i < 20; ++i) begin(add_one);
  EXPECT_TRUE(coroutine::sleep_for(5ms));
  const Partition partition = partition_of("corolane.test.Puppet", "a");
  EXPECT_TRUE(
      stage_.host.release(stage_.ownership, std::array{partition}, Deadline::after(1s)).empty());
  stage_.host.resume(stage_.ownership, std::array{partition});
  join();
  std::int64_t success_count = 0;
  for (const auto& result : results_) success_count += result ? 1 : 0;
  EXPECT_EQ(stored(), success_count);
}

}  // namespace
}  // namespace corolane::framework::detail
