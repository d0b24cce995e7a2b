// SPDX-License-Identifier: MIT
// Objects publish and follow one another on one shard.
#include "framework/push/subscription.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <list>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "test/framework/room.h"
#include "test/framework/room_mirror.h"
#include "test/framework/stage.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::ListenerClient;
using test::ListenRequest;
using test::RoomClient;
using test::RoomEvent;
using test::RoomMirror;
using test::say_request;
using testing::ElementsAre;
using testing::IsEmpty;

ListenRequest listen_request(const std::string& room, std::chrono::milliseconds pause = 0ms) {
  ListenRequest request;
  request.set_room(room);
  request.set_pause_milliseconds(static_cast<std::uint32_t>(pause.count()));
  return request;
}

class SubscriptionTest : public testing::Test {
 protected:
  SubscriptionTest() {
    stage_.add<test::Room>();
    stage_.add<test::Listener>();
    stage_.start();
  }

  void move_room(const std::string& id, std::uint64_t epoch) {
    const std::array partitions = {partition_of("corolane.test.Room", id)};
    stage_.host.release(stage_.ownership, partitions, Deadline::after(50ms));
    stage_.own_all(epoch);
    stage_.host.resume(stage_.ownership, partitions);
  }
  RoomClient room(const std::string& id) { return RoomClient(router_, id); }
  ListenerClient listener(const std::string& id) { return ListenerClient(router_, id); }
  std::vector<std::string> heard(const std::string& id) {
    const auto reply = listener(id).heard({});
    EXPECT_TRUE(reply) << reply;
    return {reply->texts().begin(), reply->texts().end()};
  }

  MemoryStore table_;
  test::FaultyStore store_{table_};
  test::Stage stage_{store_, /*epoch=*/1, {.idle_time_max = 1min}};
  detail::ObjectRouter& router_ = stage_.router;
};

TEST_F(SubscriptionTest, BeginsWithAGapAndContinuesInOrder) {
  auto events = room("a").subscribe();
  const auto begin = events.next(Deadline::after(1s));
  ASSERT_TRUE(begin) << begin;
  EXPECT_EQ(begin->gap(), Gap::begin);
  EXPECT_EQ(begin->position().epoch, 1U);
  ASSERT_TRUE(room("a").say(say_request("hello", 3)));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const auto event = events.next(Deadline::after(1s));
    ASSERT_TRUE(event) << event;
    ASSERT_FALSE(event->is_gap());
    EXPECT_EQ((*event)->number(), i);
    EXPECT_EQ(event->position().sequence, begin->position().sequence + i);
  }
  EXPECT_THAT(events.next(Deadline::passed()), fails_with(Code::deadline_exceeded));
}

TEST_F(SubscriptionTest, ASubscriberHearsNoOtherRoom) {
  RoomMirror a(router_, "a");
  RoomMirror b(router_, "b");
  ASSERT_TRUE(a.follow(Deadline::after(1s)));
  ASSERT_TRUE(b.follow(Deadline::after(1s)));
  ASSERT_TRUE(room("a").say(say_request("for a")));
  ASSERT_TRUE(a.follow(Deadline::after(1s)));
  EXPECT_THAT(b.follow(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
}

TEST_F(SubscriptionTest, AThousandSubscribersHearTheSame) {
  coroutine::TaskGroup group;
  std::list<RoomMirror> mirrors;
  for (int i = 0; i < 1'000; ++i) {
    auto& mirror = mirrors.emplace_back(router_, "a");
    ASSERT_TRUE(group.spawn("subscriber", [&mirror] { static_cast<void>(mirror.run()); }));
  }
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(room("a").say(say_request("hello")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  group.cancel_and_join();
  for (const RoomMirror& mirror : mirrors) {
    EXPECT_EQ(mirror.said_count, 100U);
    EXPECT_EQ(mirror.event_count, 100U);
    EXPECT_THAT(mirror.failures, IsEmpty());
  }
}

TEST_F(SubscriptionTest, ASlowReaderGetsAGapAndDelaysNoOther) {
  RoomMirror slow(router_, "a");
  RoomMirror fast(router_, "a");
  ASSERT_TRUE(slow.follow(Deadline::after(1s)));
  auto reading = coroutine::spawn("fast", [&] { return fast.run(); });
  const TimePoint start = now();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(room("a").say(say_request("hello", 10)));
    ASSERT_TRUE(coroutine::yield());
  }
  EXPECT_EQ(now(), start);
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(fast.event_count, 1'000U);
  EXPECT_EQ(fast.behind_count, 0U);
  ASSERT_TRUE(slow.follow(Deadline::passed()));
  EXPECT_EQ(slow.behind_count, 1U);
  EXPECT_EQ(slow.said_count, 1'000U);
  ASSERT_TRUE(room("a").say(say_request("hello")));
  ASSERT_TRUE(slow.follow(Deadline::after(1s)));
  EXPECT_EQ(slow.said_count, 1'001U);
  EXPECT_THAT(slow.failures, IsEmpty());
  EXPECT_THAT(fast.failures, IsEmpty());

  EXPECT_EQ(router_.push().feeds().statistics().subscription_count, 2U);
  EXPECT_EQ(router_.push().feeds().subscription_count(), 2U);
  EXPECT_EQ(router_.push().feeds().statistics().behind_count, 1U);
}

TEST_F(SubscriptionTest, ABurstLargerThanTheBufferIsAGapForAll) {
  RoomMirror mirror(router_, "a");
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  ASSERT_TRUE(room("a").say(say_request("hello", 5'000)));
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  EXPECT_EQ(mirror.behind_count, 1U);
  EXPECT_EQ(mirror.said_count, 5'000U);
  EXPECT_THAT(mirror.failures, IsEmpty());
}

TEST_F(SubscriptionTest, AnObjectWithSubscribersIsInUse) {
  auto events = room("a").subscribe();
  ASSERT_TRUE(events.next(Deadline::after(1s)));
  ASSERT_TRUE(room("b").say(say_request("hello")));
  ASSERT_TRUE(coroutine::sleep_for(10min));
  EXPECT_EQ(stage_.statistics().active_count, 1U);
  events = room("b").subscribe();
  ASSERT_TRUE(coroutine::sleep_for(10min));
  EXPECT_EQ(stage_.statistics().active_count, 1U);
  EXPECT_EQ(room("a").look({})->said_count(), 0U);
}

TEST_F(SubscriptionTest, AReloadedObjectPublishesAfterAllItsEarlierPositions) {
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    {
      auto events = room("a").subscribe();
      const auto begin = events.next(Deadline::after(1s));
      ASSERT_TRUE(begin) << begin;
      EXPECT_TRUE(last == 0 || begin->position().sequence > last);
      ASSERT_TRUE(room("a").say(say_request("hello", 10)));
    }
    last = room("a").look({})->sequence();
    ASSERT_TRUE(coroutine::sleep_for(2min));
    ASSERT_EQ(stage_.statistics().active_count, 0U);
  }
  EXPECT_GE(last, 30U);
}

TEST_F(SubscriptionTest, ItFollowsAMovingObjectAndReportsTheMove) {
  RoomMirror mirror(router_, "a");
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  auto reading = coroutine::spawn("mirror", [&] { return mirror.run(); });
  for (std::uint64_t epoch = 2; epoch < 10; ++epoch) {
    ASSERT_TRUE(room("a").say(say_request("hello", 3)));
    move_room("a", epoch);
    ASSERT_TRUE(room("a").say(say_request("hello", 2)));
    ASSERT_TRUE(coroutine::sleep_for(1s));
    EXPECT_EQ(mirror.moved_count, epoch - 1);
    EXPECT_EQ(mirror.said_count, 5 * (epoch - 1));
  }
  // A move loses no earlier message.
  EXPECT_GE(mirror.event_count, 8U * 3U);
  EXPECT_THAT(mirror.failures, IsEmpty());
}

TEST_F(SubscriptionTest, AnObjectReloadedInPlaceIsAGap) {
  RoomMirror mirror(router_, "a");
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  ASSERT_TRUE(room("a").say(say_request("hello")));
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  move_room("a", 1);
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  EXPECT_EQ(mirror.moved_count, 1U);
  EXPECT_EQ(mirror.said_count, 1U);
  EXPECT_THAT(mirror.failures, IsEmpty());
}

TEST_F(SubscriptionTest, AFencedNodePublishesNothing) {
  RoomMirror mirror(router_, "a");
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  ASSERT_TRUE(room("a").say(say_request("hello")));
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  auto request = say_request("late", 2);
  request.set_pause_milliseconds(20);
  stage_.fence.set(now() + 10ms);
  EXPECT_THAT(room("a").say(request), fails_with(Code::aborted));
  // The first message was published in time, the second was not.
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  EXPECT_THAT(mirror.follow(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  stage_.fence.set(TimePoint::max());
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  EXPECT_EQ(mirror.moved_count, 1U);
  EXPECT_EQ(mirror.said_count, 3U);
  EXPECT_THAT(mirror.failures, IsEmpty());
}

TEST_F(SubscriptionTest, PublicationsOfADurableMethodWaitForTheStore) {
  store_.delay = 100ms;
  RoomMirror mirror(router_, "a");
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  const TimePoint start = now();
  auto saying = coroutine::spawn("say", [&] { return room("a").say_for_good(say_request("hi")); });
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  EXPECT_EQ(now() - start, 100ms);
  ASSERT_TRUE(room("a").say(say_request("hi")));
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  EXPECT_EQ(now() - start, 100ms);
  EXPECT_TRUE(saying.join(Deadline::never()));
}

TEST_F(SubscriptionTest, AnUnstoredPublicationIsHeldUntilItIsStored) {
  RoomMirror mirror(router_, "a");
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  store_.cut();
  EXPECT_THAT(room("a").say_for_good(say_request("hi")), fails_with(Code::unavailable));
  EXPECT_THAT(mirror.follow(Deadline::after(20s)), fails_with(Code::deadline_exceeded));
  store_.mend();
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  ASSERT_TRUE(room("a").say(say_request("hi")));
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  EXPECT_EQ(mirror.said_count, 2U);
  EXPECT_THAT(mirror.failures, IsEmpty());
}

TEST_F(SubscriptionTest, APublicationThatWaitsForTheStoreOutlastsAnOutage) {
  store_.delay = 100ms;
  RoomMirror mirror(router_, "a");
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  auto saying = coroutine::spawn("say", [&] { return room("a").say_for_good(say_request("hi")); });
  ASSERT_TRUE(coroutine::sleep_for(50ms));
  store_.cut();
  EXPECT_THAT(saying.join(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_THAT(mirror.follow(Deadline::after(20s)), fails_with(Code::deadline_exceeded));
  store_.mend();
  ASSERT_TRUE(mirror.follow(Deadline::after(2s)));
  EXPECT_THAT(mirror.texts, ElementsAre("hi"));
  EXPECT_EQ(mirror.said_count, 1U);
  EXPECT_THAT(mirror.failures, IsEmpty());
}

TEST_F(SubscriptionTest, ADurableMethodThatGivesItsTurnAwayHoldsNothingBack) {
  RoomMirror mirror(router_, "a");
  ASSERT_TRUE(mirror.follow(Deadline::after(1s)));
  auto request = say_request("hi", 2);
  request.set_pause_milliseconds(1'000);
  request.set_waits_outside(true);
  auto saying = coroutine::spawn("say", [&] { return room("a").say_for_good(request); });
  ASSERT_TRUE(mirror.follow(Deadline::after(10ms)));
  ASSERT_TRUE(room("a").say(say_request("in between")));
  ASSERT_TRUE(mirror.follow(Deadline::after(10ms)));
  EXPECT_TRUE(saying.join(Deadline::never()));
  ASSERT_TRUE(mirror.follow(Deadline::after(1ms)));
  EXPECT_THAT(mirror.texts, ElementsAre("hi", "in between", "hi"));
  EXPECT_THAT(mirror.failures, IsEmpty());
}

TEST_F(SubscriptionTest, AnErrorOfTheObjectIsFinal) {
  auto events = room("no where").subscribe();
  EXPECT_THAT(events.next(Deadline::after(1s)), fails_with(Code::not_found));
  EXPECT_THAT(events.next(Deadline::after(1s)), fails_with(Code::not_found));
  EXPECT_EQ(router_.push().feeds().statistics().object_count, 0U);
  auto unknown = Subscription<RoomEvent>(router_, "corolane.test.Hall", "a");
  EXPECT_THAT(unknown.next(Deadline::after(1s)), fails_with(Code::unimplemented));
}

TEST_F(SubscriptionTest, ATransientErrorIsRetried) {
  store_.cut();
  auto events = room("a").subscribe();
  EXPECT_THAT(events.next(Deadline::after(1min)), fails_with(Code::deadline_exceeded));
  store_.mend();
  EXPECT_TRUE(events.next(Deadline::after(1s)));
}

std::size_t stacks_in_use() {
  return coroutine::Scheduler::current().stacks().statistics().in_use_count;
}

TEST_F(SubscriptionTest, SubscribersHoldNoStackWhileNothingIsPublished) {
  const std::size_t before = stacks_in_use();
  std::list<Subscription<RoomEvent>> subscriptions;
  for (int i = 0; i < 1'000; ++i) {
    subscriptions.push_back(room(std::to_string(i)).subscribe());
    ASSERT_TRUE(listener("l").listen(listen_request(std::to_string(i))));
  }
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(stacks_in_use(), before);
  ASSERT_TRUE(room("17").say(say_request("hello")));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(heard("l"), ElementsAre("hello"));
  EXPECT_EQ(stacks_in_use(), before);
}

TEST_F(SubscriptionTest, ObjectsThatCannotBeReachedNeedFewStacks) {
  store_.cut();
  const std::size_t before = stacks_in_use();
  std::list<Subscription<RoomEvent>> subscriptions;
  for (int i = 0; i < 1'000; ++i) {
    subscriptions.push_back(room(std::to_string(i)).subscribe());
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(coroutine::sleep_for(30ms));
    ASSERT_LE(stacks_in_use(), before + 2 * detail::Feeds::seeker_count_max);
  }
  store_.mend();
  for (auto& events : subscriptions) ASSERT_TRUE(events.next(Deadline::after(1s)));
}

TEST_F(SubscriptionTest, TheLastSubscriberEndsTheFeed) {
  {
    auto first = room("a").subscribe();
    auto second = room("a").subscribe();
    EXPECT_EQ(router_.push().feeds().statistics().object_count, 1U);
    auto third = std::move(first);
    ASSERT_TRUE(third.next(Deadline::after(1s)));
  }
  EXPECT_EQ(router_.push().feeds().statistics().object_count, 0U);
  ASSERT_TRUE(coroutine::sleep_for(2min));
  EXPECT_EQ(stage_.statistics().active_count, 0U);
}

TEST_F(SubscriptionTest, ACancelledReadReturnsCancelled) {
  auto events = room("a").subscribe();
  ASSERT_TRUE(events.next(Deadline::after(1s)));
  auto reading = coroutine::spawn("reading", [&]() -> Result<void> {
    const auto event = events.next(Deadline::never());
    if (!event) return event.error();
    return {};
  });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  reading.cancel();
  EXPECT_THAT(reading.join(Deadline::never()), fails_with(Code::cancelled));
  ASSERT_TRUE(room("a").say(say_request("hello")));
  EXPECT_TRUE(events.next(Deadline::after(1s)));
}

TEST_F(SubscriptionTest, ItOutlivesTheDeadlineOfTheHandlerThatStartedIt) {
  // A handler of an object has ten seconds; its subscription continues.
  ASSERT_TRUE(listener("l").listen(listen_request("a"), {.deadline = Deadline::after(1s)}));
  ASSERT_TRUE(coroutine::sleep_for(30s));
  ASSERT_TRUE(room("a").say(say_request("late")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_THAT(heard("l"), ElementsAre("late"));
}

TEST_F(SubscriptionTest, ItEndsWhenTheNodeStops) {
  auto events = room("a").subscribe();
  ASSERT_TRUE(events.next(Deadline::after(1s)));
  auto reading = coroutine::spawn("reading", [&] { return events.next(Deadline::never()); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  router_.stop();
  EXPECT_THAT(reading.join(Deadline::never()), fails_with(Code::unavailable));
  auto later = room("a").subscribe();
  EXPECT_THAT(later.next(Deadline::never()), fails_with(Code::unavailable));
}

TEST_F(SubscriptionTest, ObjectsHearInTheirTurns) {
  ASSERT_TRUE(listener("l").listen(listen_request("a", 10ms)));
  ASSERT_TRUE(listener("l").listen(listen_request("b", 10ms)));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  const TimePoint start = now();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(room("a").say(say_request("a" + std::to_string(i))));
    ASSERT_TRUE(room("b").say(say_request("b" + std::to_string(i))));
  }
  EXPECT_EQ(now(), start);
  ASSERT_TRUE(coroutine::sleep_for(95ms));
  // The tenth message is being handled: this call waits for its end.
  const auto texts = heard("l");
  EXPECT_EQ(now() - start, 100ms);
  std::vector<std::string> of_a;
  std::vector<std::string> of_b;
  for (const std::string& text : texts) (text[0] == 'a' ? of_a : of_b).push_back(text);
  EXPECT_THAT(of_a, ElementsAre("a0", "a1", "a2", "a3", "a4"));
  EXPECT_THAT(of_b, ElementsAre("b0", "b1", "b2", "b3", "b4"));
}

TEST_F(SubscriptionTest, ASlowListenerDoesNotFillItsMailbox) {
  ASSERT_TRUE(listener("l").listen(listen_request("a", 1s)));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(room("a").say(say_request("hello", 10)));
    ASSERT_TRUE(coroutine::yield());
  }
  ASSERT_TRUE(coroutine::sleep_for(10s));
  const auto reply = listener("l").heard({});
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->gap_count(), 2U);  // The begin, and the messages that it missed.
  EXPECT_EQ(reply->texts_size(), 1);
}

TEST_F(SubscriptionTest, AListenerHoldsNoStackWhileNothingIsPublished) {
  const auto feed = room("a").subscribe();
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  const std::size_t before = stacks_in_use();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(listener(std::to_string(i)).listen(listen_request("a")));
  }
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(stacks_in_use(), before);
  ASSERT_TRUE(room("a").say(say_request("hello")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_THAT(heard("17"), ElementsAre("hello"));
  EXPECT_EQ(stacks_in_use(), before);
}

TEST_F(SubscriptionTest, AnObjectMayStopListening) {
  auto request = listen_request("a", 1ms);
  request.set_leaves_at("enough");
  ASSERT_TRUE(listener("l").listen(request));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  for (const char* text : {"one", "enough", "more"}) ASSERT_TRUE(room("a").say(say_request(text)));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(heard("l"), ElementsAre("one", "enough"));
  EXPECT_EQ(router_.push().feeds().statistics().object_count, 0U);

  ASSERT_TRUE(listener("l").listen(listen_request("a")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  ASSERT_TRUE(listener("l").leave(listen_request("a")));
  ASSERT_TRUE(room("a").say(say_request("still more")));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(heard("l"), ElementsAre("one", "enough"));
  EXPECT_EQ(router_.push().feeds().statistics().object_count, 0U);
}

TEST_F(SubscriptionTest, AMessageThatWaitsForATurnIsDroppedAfterLeaving) {
  ASSERT_TRUE(listener("l").listen(listen_request("a")));
  ASSERT_TRUE(listener("l").listen(listen_request("b", 100ms)));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  ASSERT_TRUE(room("b").say(say_request("b")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  // The call that leaves comes first, then the turn for the message.
  auto leaving =
      coroutine::spawn("leave", [&] { return listener("l").leave(listen_request("a")); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  ASSERT_TRUE(room("a").say(say_request("a")));
  EXPECT_TRUE(leaving.join(Deadline::never()));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(heard("l"), ElementsAre("b"));
}

TEST_F(SubscriptionTest, AnIdleListenerIsDeactivatedAndHearsNoMore) {
  ASSERT_TRUE(listener("l").listen(listen_request("a")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  ASSERT_TRUE(room("a").say(say_request("one")));
  ASSERT_TRUE(coroutine::sleep_for(2min));
  // The idle listener and its subscription are gone.
  EXPECT_EQ(router_.push().feeds().statistics().object_count, 0U);
  ASSERT_TRUE(room("a").say(say_request("two")));
  EXPECT_THAT(heard("l"), ElementsAre("one"));
}

TEST_F(SubscriptionTest, AListenerGetsTheErrorOfItsSubscription) {
  ASSERT_TRUE(listener("l").listen(listen_request("no where")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_EQ(listener("l").heard({})->failure(), "not_found: there is no such room");
}

TEST_F(SubscriptionTest, AListenerHearsMessagesInOrder) {
  ASSERT_TRUE(listener("l").listen(listen_request("a")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(room("a").say(say_request(std::to_string(i))));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(heard("l"), ElementsAre("0", "1", "2"));
}

// It may not change further before the change that its caller may have seen is stored.
TEST_F(SubscriptionTest, MessagesWaitWhileTheStateOfTheirListenerCannotBeStored) {
  ASSERT_TRUE(listener("l").listen(listen_request("a")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  ASSERT_TRUE(room("a").say(say_request("before")));
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  store_.cut();
  EXPECT_THAT(listener("l").listen_for_good(listen_request("b")), fails_with(Code::unavailable));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(room("a").say(say_request(std::to_string(i))));
    ASSERT_TRUE(coroutine::sleep_for(10s));
  }
  store_.mend();
  EXPECT_THAT(heard("l"), ElementsAre("before"));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(heard("l"), ElementsAre("before", "0", "1", "2"));
}

}  // namespace
}  // namespace corolane::framework
