// SPDX-License-Identifier: MIT
#include "framework/objects/detail/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
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
using testing::ElementsAre;
using testing::HasSubstr;

constexpr WallTime clock_of_success{1'700'000'001'000ms};

class OutboxTest : public testing::Test {
 protected:
  OutboxTest() {
    strings_.run = [this](Puppet& puppet) -> Result<void> {
      if (puppet.id().starts_with("sender")) return send_(puppet);
      COROLANE_TRY(receive_(puppet));
      received_.push_back(puppet.id());
      puppet.change().set_value(puppet.state().value() + 1);
      return {};
    };
  }

  // Puts a call of each of these into the outbox of "sender".
  Result<void> send(std::vector<std::string> receivers, bool then_fails = false) {
    return send([receivers = std::move(receivers), then_fails](Puppet& puppet) -> Result<void> {
      puppet.change().set_value(puppet.state().value() + 1);
      for (const std::string& receiver : receivers) {
        COROLANE_TRY(PuppetClient(puppet.outbox(), receiver).run_for_good({}));
      }
      if (then_fails) return Error(Code::failed_precondition, "as was asked for");
      return {};
    });
  }
  Result<void> send(std::function<Result<void>(Puppet&)> work) {
    send_ = std::move(work);
    auto sent = stage().puppet("sender").run_for_good({});
    if (!sent) return sent.error();
    return {};
  }
  std::int64_t value(const std::string& id) { return stage().puppet(id).look({})->value(); }
  ObjectRecord stored(const std::string& id) const {
    ObjectRecord record;
    EXPECT_TRUE(record.ParseFromString(
        table_.look({.type = "corolane.test.Puppet", .id = id}).object.bytes));
    return record;
  }
  PuppetStage& stage() { return *stages_.back(); }
  // The owner crashes; another one follows.
  void crash() {
    store_.cut();
    follow_on();
  }
  void follow_on() {
    const auto epoch = stages_.size() + 1;
    stages_.pop_back();
    store_.mend();
    stages_.insert(stages_.begin(), nullptr);
    stages_.push_back(std::make_unique<PuppetStage>(store_, strings_, epoch, options_, clock_));
  }

  // The store has lost what the object has written since.
  void set_back(const ObjectKey& key, const StoredObject& earlier) {
    const std::uint64_t epoch = stages_.size();
    const auto present = table_.seal(key, epoch, Deadline::never());
    ASSERT_TRUE(present);
    ASSERT_TRUE(
        table_.write(key, epoch, present->version, {.bytes = earlier.bytes}, Deadline::never()));
  }

  const WallClock clock_{WallTime(1'700'000'000'000ms)};
  const ObjectHost::Options options_ = {};
  MemoryStore table_;
  test::FaultyStore store_{table_};
  Puppet::Strings strings_;
  std::function<Result<void>(Puppet&)> send_;
  std::function<Result<void>(Puppet&)> receive_ = [](Puppet&) { return Result<void>(); };
  std::vector<std::string> received_;
  std::vector<std::unique_ptr<PuppetStage>> stages_ = [this] {
    std::vector<std::unique_ptr<PuppetStage>> stages;
    stages.push_back(std::make_unique<PuppetStage>(store_, strings_, 1, options_, clock_));
    return stages;
  }();
};

TEST_F(OutboxTest, ACallAfterTheStoreWasSetBackIsNotTakenForALostOne) {
  ASSERT_TRUE(send({"b"}));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const ObjectKey sender = {.type = "corolane.test.Puppet", .id = "sender"};
  const StoredObject earlier = table_.look(sender).object;
  ASSERT_TRUE(send({"b"}));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  ASSERT_EQ(value("b"), 2);
  crash();
  set_back(sender, earlier);
  ASSERT_TRUE(send({"b"}));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(value("b"), 3);
}

TEST_F(OutboxTest, ADestroyedReceiverRemembersItsCallsAsLongAsOthers) {
  receive_ = [](Puppet& puppet) {
    puppet.destroy();
    return Result<void>();
  };
  ASSERT_TRUE(send({"b"}));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const ObjectKey receiver = {.type = "corolane.test.Puppet", .id = "b"};
  const WallTime later = clock_.now() + Store::empty_row_time + 1h;
  ASSERT_TRUE(
      table_.forget(partition_of(receiver.type, receiver.id), later, 100, Deadline::never()));
  EXPECT_TRUE(table_.look(receiver).object.is_tombstone);
}

TEST_F(OutboxTest, ACallIsDeliveredAfterItIsStored) {
  store_.set_before_write([&](const ObjectKey& key) -> Result<void> {
    if (key.id == "sender") {
      EXPECT_THAT(received_, ElementsAre()) << "stored first";
    }
    return {};
  });
  ASSERT_TRUE(send({"b"}));
  EXPECT_EQ(stored("sender").outbox().calls_size(), 1) << "with the state, in one write";
  store_.set_before_write(nullptr);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(received_, ElementsAre("b"));
  EXPECT_EQ(stored("sender").outbox().calls_size(), 0);
  EXPECT_EQ(stage().statistics().delivery_count, 1U);
  EXPECT_EQ(stage().statistics().outbox_count, 0U);
}

TEST_F(OutboxTest, AFailedHandlerSendsNothing) {
  EXPECT_FALSE(send({"b"}, /*then_fails=*/true));
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_THAT(received_, ElementsAre());
  EXPECT_EQ(stage().statistics().outbox_count, 0U);
}

TEST_F(OutboxTest, AHandlerThatIsNotDurableSendsWhenItsChangeIsStored) {
  send_ = [](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(PuppetClient(puppet.outbox(), "b").run_for_good({}));
    return {};
  };
  ASSERT_TRUE(stage().puppet("sender").run({}));
  ASSERT_TRUE(coroutine::sleep_for(400ms));
  EXPECT_THAT(received_, ElementsAre());
  ASSERT_TRUE(coroutine::sleep_for(200ms));
  EXPECT_THAT(received_, ElementsAre("b"));
}

TEST_F(OutboxTest, CallsOfOneObjectArriveInOrderAndADeadOneDelaysNoOther) {
  int failure_count = 3;
  receive_ = [&](Puppet& puppet) -> Result<void> {
    if (puppet.id() == "b" && failure_count-- > 0) return Error(Code::unavailable, "not yet");
    return {};
  };
  ASSERT_TRUE(send({"b", "c", "b", "d"}));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_THAT(received_, ElementsAre("c", "d"));
  EXPECT_EQ(stage().statistics().outbox_count, 2U);
  ASSERT_TRUE(coroutine::sleep_for(8s));
  EXPECT_THAT(received_, ElementsAre("c", "d", "b", "b"));
  EXPECT_EQ(stage().statistics().failed_delivery_count, 3U);
}

TEST_F(OutboxTest, ACallSurvivesTheCrashOfItsOwner) {
  receive_ = [](Puppet&) { return Error(Code::unavailable, "not yet"); };
  ASSERT_TRUE(send({"b", "c"}));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  receive_ = [](Puppet&) { return Result<void>(); };
  crash();
  ASSERT_TRUE(coroutine::sleep_for(30s));
  EXPECT_EQ(value("b"), 1);
  EXPECT_EQ(value("c"), 1);
  EXPECT_EQ(stage().statistics().outbox_count, 0U);
}

TEST_F(OutboxTest, TheNextOwnerDeliversAtOnceWhenTheObjectHasLeft) {
  receive_ = [](Puppet&) { return Error(Code::unavailable, "not yet"); };
  ASSERT_TRUE(send({"b"}));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  receive_ = [](Puppet&) { return Result<void>(); };
  ASSERT_TRUE(stage().host.stop(Deadline::after(1s)));
  follow_on();
  const TimePoint start = now();
  while (received_.empty() && now() - start < 30s) ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_THAT(received_, ElementsAre("b"));
  EXPECT_LT(now() - start, 3s);
}

// Above the budget every idle object leaves. One that its call kept awake would be written, woken
// and evicted at each look at the idle ones.
TEST_F(OutboxTest, AnIdleObjectWithACallOutComesBackAtItsOwnTime) {
  int activation_count = 0;
  strings_.on_activate = [&](Puppet& puppet) -> Result<void> {
    if (puppet.id() == "sender") ++activation_count;
    return {};
  };
  receive_ = [](Puppet&) { return Error(Code::unavailable, "not yet"); };
  PuppetStage stage(store_, strings_, 9, {.memory_bytes_max = 1}, clock_);
  send_ = [](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(PuppetClient(puppet.outbox(), "b").run_for_good({}));
    return {};
  };
  ASSERT_TRUE(stage.puppet("sender").run_for_good({}));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_GT(activation_count, 1);
  EXPECT_LE(activation_count, 1 + 1min / 5s);
  receive_ = [](Puppet&) { return Result<void>(); };
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_THAT(received_, ElementsAre("b"));
}

// The id is in the record of the sender, which could not be read again.
TEST_F(OutboxTest, TheIdOfAReceiverIsAnyBytes) {
  const std::string receiver = "r\xff";
  receive_ = [](Puppet&) { return Error(Code::unavailable, "not yet"); };
  ASSERT_TRUE(send({receiver}));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  receive_ = [](Puppet&) { return Result<void>(); };
  crash();
  ASSERT_TRUE(coroutine::sleep_for(30s));
  EXPECT_EQ(value(receiver), 1);
}

TEST_F(OutboxTest, ACallWhoseDeliveryWasForgottenTakesEffectOnce) {
  ASSERT_TRUE(send({"b", "b", "c"}));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_EQ(received_.size(), 3U);
  // The owner has not stored yet that they were delivered.
  EXPECT_EQ(stored("sender").outbox().calls_size(), 3);
  crash();
  ASSERT_TRUE(coroutine::sleep_for(30s));
  EXPECT_EQ(stage().statistics().delivery_count, 3U) << "delivered again";
  EXPECT_EQ(value("b"), 2);
  EXPECT_EQ(value("c"), 1);
}

TEST_F(OutboxTest, AnObjectMaySendToItself) {
  int count = 0;
  send_ = [&](Puppet& puppet) -> Result<void> {
    if (++count > 1) return {};
    COROLANE_TRY(PuppetClient(puppet.outbox(), "sender").run_for_good({}));
    return {};
  };
  ASSERT_TRUE(stage().puppet("sender").run_for_good({}));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(count, 2);
}

TEST_F(OutboxTest, ReceiversMayCallTheSender) {
  receive_ = [](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(PuppetClient(puppet.router(), "sender").look({}));
    return {};
  };
  ASSERT_TRUE(send({"b"}));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(value("b"), 1);
}

TEST_F(OutboxTest, ALaterObjectOfTheSameNameSendsOtherCalls) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(send({"b"}));
    ASSERT_TRUE(coroutine::sleep_for(1s));
    ASSERT_TRUE(send([](Puppet& puppet) -> Result<void> {
      EXPECT_EQ(puppet.outbox_size(), 0U);
      puppet.destroy();
      return {};
    }));
  }
  EXPECT_EQ(value("b"), 3);
}

TEST_F(OutboxTest, AFullOutboxRefusesAndUndoes) {
  receive_ = [](Puppet&) { return Error(Code::unavailable, "not yet"); };
  ASSERT_TRUE(send(std::vector<std::string>(Outbox::call_count_max, "b")));
  const auto refused = send({"c"});
  ASSERT_THAT(refused, fails_with(Code::resource_exhausted));
  EXPECT_THAT(refused.error().message(), HasSubstr("1024 calls"));
  EXPECT_EQ(value("sender"), 1);
}

TEST_F(OutboxTest, SomeOfManyDeliveriesMayFail) {
  receive_ = [](Puppet& puppet) -> Result<void> {
    if (puppet.id().ends_with("7") && puppet.wall_clock().now() < clock_of_success) {
      return Error(Code::unavailable, "not yet");
    }
    return {};
  };
  std::vector<std::string> receivers;
  for (int i = 0; i < 500; ++i) receivers.push_back("r" + std::to_string(i));
  ASSERT_TRUE(send(receivers));
  ASSERT_TRUE(coroutine::sleep_for(200ms));
  EXPECT_EQ(stage().statistics().delivery_count, 450U);
  EXPECT_EQ(stage().statistics().outbox_count, 50U);
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_EQ(stage().statistics().outbox_count, 0U);
  EXPECT_EQ(received_.size(), 500U) << "each once";
}

TEST_F(OutboxTest, CallsWithoutAnAcknowledgmentAreRefused) {
  EXPECT_THAT(send([](Puppet& puppet) { return PuppetClient(puppet.outbox(), "b").run_alone({}); }),
              fails_with(Code::invalid_argument));
  for (const bool reads : {false, true}) {
    EXPECT_THAT(send([reads](Puppet& puppet) -> Result<void> {
                  PuppetClient client(puppet.outbox(), "b");
                  if (reads) {
                    COROLANE_TRY(client.look({}));
                  } else {
                    COROLANE_TRY(client.run({}));
                  }
                  return {};
                }),
                fails_with(Code::invalid_argument));
  }
  EXPECT_THAT(send({std::string(257, 'x')}), fails_with(Code::invalid_argument));
}

TEST_F(OutboxTest, ObjectsThatAreNotStoredHaveNone) {
  PuppetStage stage(store_, strings_, 9, {}, clock_, {.transient = true});
  send_ = [](Puppet& puppet) -> Result<void> {
    COROLANE_TRY(PuppetClient(puppet.outbox(), "b").run_for_good({}));
    return {};
  };
  EXPECT_THAT(stage.puppet("sender").run({}), fails_with(Code::failed_precondition));
}

}  // namespace
}  // namespace corolane::framework::detail
