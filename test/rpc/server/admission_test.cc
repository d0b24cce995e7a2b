// SPDX-License-Identifier: MIT
// Admission: how many calls may wait, and what callers see of it.
#include "rpc/server/detail/admission.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/virtual_time.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::AdmissionOptions;
using rpc::Priority;
using rpc::detail::Admission;

// A queue in front of a thread that begins one call per millisecond.
class AdmissionTest : public testing::Test {
 protected:
  bool offer(Priority priority = Priority::in_session, Deadline deadline = Deadline::never()) {
    return offer_from(connection_, priority, deadline);
  }
  bool offer_from(Admission::Share& connection, Priority priority = Priority::in_session,
                  Deadline deadline = Deadline::never()) {
    if (!admission_.judge(priority, connection, method_, 0, deadline, time_).is_admitted) {
      return false;
    }
    admission_.waits(priority, connection, method_);
    return true;
  }
  void begin_one(Duration waited, Priority priority = Priority::in_session) {
    begin_one_of(connection_, waited, priority);
  }
  void begin_one_of(Admission::Share& connection, Duration waited, Priority priority) {
    time_ += 1ms;
    admission_.leaves(priority, connection, method_);
    admission_.note_wait(priority, time_ - waited, time_);
    admission_.note_begun(time_, true);
  }
  // Runs until the admission knows the pace, and leaves 20 calls that wait.
  void warm_up() {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(offer());
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(offer());
      begin_one(1ms);
    }
  }
  // The thread stands still for that long, in the middle of a backlog.
  void stall(Duration duration) {
    time_ += duration;
    admission_.note_begun(time_, true);
  }
  // Makes every call wait for 20 ms for longer than an interval.
  void stand() {
    for (int i = 0; i < 250; ++i) {
      admission_.waits(Priority::in_session, connection_, method_);
      begin_one(20ms);
    }
  }
  int offer_until_refused() {
    int count = 0;
    while (offer()) ++count;
    return count;
  }

  TimePoint time_ = TimePoint() + 1h;
  AdmissionOptions options_{.delay_target = 5ms};
  Admission admission_{options_};
  Admission::Share connection_;
  Admission::Share method_;
};

TEST_F(AdmissionTest, BurstMayWaitForTheLongerTime) {
  warm_up();
  EXPECT_NEAR(offer_until_refused() + 20, 100, 2);
}

TEST_F(AdmissionTest, MachineThatStallsOnceRefusesNoBurst) {
  stall(200ms);
  stall(200ms);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(offer()) << i;
}

TEST_F(AdmissionTest, CallsThatHaveBecomeSlowAreNoticedWithinAFewOfThem) {
  warm_up();
  for (int i = 0; i < 20; ++i) stall(20ms);
  EXPECT_FALSE(offer());
}

TEST_F(AdmissionTest, StandingQueueMayWaitForTheShorterTimeOnly) {
  warm_up();
  stand();
  EXPECT_TRUE(admission_.is_overloaded(Priority::in_session));
  EXPECT_FALSE(offer());
  while (admission_.waiting_count() > 3) begin_one(20ms);
  EXPECT_NEAR(offer_until_refused() + 3, 5, 1);
}

TEST_F(AdmissionTest, QueueThatWasEmptyOnceIsNotOverloaded) {
  warm_up();
  stand();
  EXPECT_TRUE(admission_.is_overloaded(Priority::in_session));
  while (admission_.waiting_count() > 0) begin_one(20ms);
  EXPECT_FALSE(admission_.is_overloaded(Priority::in_session));
}

TEST_F(AdmissionTest, CallThatWouldWaitForMostOfItsTimeIsRefused) {
  warm_up();  // 20 calls wait before the next one, which takes 20 ms.
  EXPECT_FALSE(offer(Priority::in_session, Deadline::at(time_ + 35ms)));
  EXPECT_TRUE(offer(Priority::in_session, Deadline::at(time_ + 45ms)));
}

TEST_F(AdmissionTest, ControlIsAdmittedWhateverTheQueue) {
  warm_up();
  offer_until_refused();
  EXPECT_TRUE(offer(Priority::control));
}

TEST_F(AdmissionTest, LessImportantCallsAreRefusedFirst) {
  warm_up();
  while (offer(Priority::background)) {
  }
  EXPECT_FALSE(offer(Priority::login) && offer(Priority::background));
  EXPECT_TRUE(offer(Priority::in_session));
}

TEST_F(AdmissionTest, NoConnectionOrMethodTakesMoreThanItsShare) {
  warm_up();
  Admission::Share greedy;
  while (offer_from(greedy)) {
  }
  Admission::Share modest;
  EXPECT_TRUE(offer_from(modest));
  EXPECT_FALSE(offer_from(greedy));
}

TEST_F(AdmissionTest, SlowCallsGetFewStacksInAdvance) {
  EXPECT_EQ(admission_.beginning_max(), 64u);
  warm_up();
  EXPECT_EQ(admission_.beginning_max(), 2u);
}

TEST_F(AdmissionTest, SlowCallsGetFewStacksInAdvanceBeforeAnyHasWaited) {
  for (int i = 0; i < 20; ++i) admission_.note_begun(time_ += 1ms, true);
  EXPECT_EQ(admission_.beginning_max(), 2u);
}

TEST_F(AdmissionTest, WaitingCallsNeverExceedTheLimit) {
  options_.waiting_max = 50;
  Admission small(options_);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(small.judge(Priority::control, connection_, method_, 0, Deadline::never(), time_)
                    .is_admitted);
    small.waits(Priority::control, connection_, method_);
  }
  EXPECT_FALSE(small.judge(Priority::control, connection_, method_, 0, Deadline::never(), time_)
                   .is_admitted);
}

// A service whose handlers block the thread for a while.
class BusyService : public EchoService {
 public:
  Result<EchoReply> echo(const EchoRequest& request, rpc::Context& context) override {
    virtual_time().wait(Deadline::after(1ms));
    return EchoService::echo(request, context);
  }
};

// Offers calls at a rate for one second, each with a deadline of 100 ms; returns how many were
// answered in time.
int offer_load(rpc::Client& client, int per_second) {
  int succeeded = 0;
  coroutine::TaskGroup callers;
  const TimePoint start = now();
  for (int i = 0; i < per_second; ++i) {
    check(coroutine::sleep_until(Deadline::at(start + i * 1'000'000us / per_second)).has_value(),
          "sleeps");
    check(callers
              .spawn("caller",
                     [&] {
                       const auto reply = EchoClient(client).echo(
                           make_echo(""), {.deadline = Deadline::after(100ms)});
                       if (reply) ++succeeded;
                     })
              .has_value(),
          "there is a stack");
  }
  check(callers.join(Deadline::never()).has_value(), "the callers end");
  return succeeded;
}

TEST(OverloadTest, GoodputStaysUnderOverload) {
  for (const int times : {1, 2, 5, 10}) {
    sim::SimulatedNetwork network;
    BusyService service;
    rpc::Server server(network);
    ASSERT_TRUE(server.add(service));
    ASSERT_TRUE(server.listen({"server", 1}, {.door = rpc::Door::nodes}));
    auto client = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
    ASSERT_TRUE(client);
    const int succeeded = offer_load(**client, 1000 * times);
    EXPECT_GE(succeeded, 900) << times << " times the capacity";
    EXPECT_LE(succeeded, 1300) << times << " times the capacity";
  }
}

}  // namespace
}  // namespace corolane::test
