// SPDX-License-Identifier: MIT
// What a client is pushed, from its arrival to the readers of it.
#include "framework/client/detail/push_inbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/client/pushes.h"
#include "test/framework/counter.pb.h"
#include "test/framework/room.pb.h"

namespace corolane::framework {
namespace {

using detail::PushInbox;
using detail::PushQueue;
using test::CounterReply;
using test::fails_with;
using testing::ElementsAre;
using testing::IsEmpty;

class PushInboxTest : public testing::Test {
 protected:
  PushInboxTest() {
    inbox_.emplace([this](std::uint32_t group) { unfollowed_.push_back(group); }, nullptr);
    inbox_->on_session(false);
  }

  template <typename T = CounterReply>
  Pushes<T> pushes() {
    return Pushes<T>(inbox_->pushes(rpc::Push::type_of(T::default_instance())));
  }
  template <typename T = CounterReply>
  Pushes<T> follow(std::uint32_t group) {
    return Pushes<T>(inbox_->follow(group, rpc::Push::type_of(T::default_instance())));
  }
  void push(std::int64_t value, std::uint32_t group = 0) {
    CounterReply message;
    message.set_value(value);
    const std::string bytes = message.SerializeAsString();
    inbox_->on_push({.number = ++number_,
                     .type = rpc::Push::type_of(message),
                     .group = group,
                     .bytes = std::as_bytes(std::span(bytes))});
  }
  // All that waits for the reader; 0 for a gap.
  static std::vector<std::int64_t> take_all(Pushes<CounterReply>& reader) {
    std::vector<std::int64_t> values;
    for (;;) {
      const auto next = reader.next(Deadline::passed());
      if (!next) return values;
      values.push_back(next->is_gap() ? 0 : (*next)->value());
    }
  }

  std::vector<std::uint32_t> unfollowed_;
  std::uint64_t number_ = 0;
  std::optional<PushInbox> inbox_;
};

TEST_F(PushInboxTest, AReaderGetsTheMessagesOfItsTypeFromItsBeginningOn) {
  push(1);
  auto early = pushes();
  push(2);
  auto late = pushes();
  auto other = pushes<test::RoomEvent>();
  push(3);
  EXPECT_THAT(take_all(early), ElementsAre(2, 3));
  EXPECT_THAT(take_all(late), ElementsAre(3));
  EXPECT_THAT(other.next(Deadline::passed()), fails_with(Code::deadline_exceeded));
}

TEST_F(PushInboxTest, ATaskWaitsForThePushThatComes) {
  auto reader = pushes();
  auto task = coroutine::spawn("reader", [&] { return reader.next(Deadline::never()); });
  ASSERT_TRUE(coroutine::yield());
  push(7);
  const auto read = task.join(Deadline::never());
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)->value(), 7);
}

TEST_F(PushInboxTest, AReaderThatIsSlowLosesTheOldestMessagesAndIsTold) {
  auto reader = pushes();
  const auto count = static_cast<std::int64_t>(PushQueue::count_max);
  for (std::int64_t value = 1; value <= count + 10; ++value) push(value);
  const auto values = take_all(reader);
  ASSERT_EQ(values.size(), PushQueue::count_max);
  EXPECT_EQ(values[0], 0) << "a gap";
  EXPECT_EQ(values[1], 12) << "11 have made room";
  EXPECT_EQ(values.back(), count + 10);
  push(1);
  EXPECT_THAT(take_all(reader), ElementsAre(1));
}

TEST_F(PushInboxTest, AMessageAboveTheBoundIsAGap) {
  auto reader = pushes();
  const std::string bytes(PushQueue::bytes_max + 1, 'x');
  inbox_->on_push(
      {.type = rpc::Push::type_of(CounterReply()), .bytes = std::as_bytes(std::span(bytes))});
  push(1);
  EXPECT_THAT(take_all(reader), ElementsAre(0, 1));
}

TEST_F(PushInboxTest, WhatCannotBeReadIsAGap) {
  auto reader = pushes();
  inbox_->on_push(
      {.type = rpc::Push::type_of(CounterReply()), .bytes = std::as_bytes(std::span("\xff", 1))});
  EXPECT_THAT(take_all(reader), ElementsAre(0));
}

TEST_F(PushInboxTest, LostPushesAreAGapOfAllReaders) {
  auto reader = pushes();
  auto group = follow(1);
  push(1, 2);
  inbox_->on_gap(3);
  auto unclaimed = follow(2);
  EXPECT_THAT(take_all(reader), ElementsAre(0));
  EXPECT_THAT(take_all(group), ElementsAre(0));
  EXPECT_THAT(take_all(unclaimed), ElementsAre(1, 0));
}

TEST_F(PushInboxTest, AGroupHasItsOwnNewsAndGaps) {
  auto reader = pushes();
  auto one = follow(1);
  auto two = follow(2);
  push(1, 1);
  push(2, 2);
  inbox_->on_group_gap(1);
  push(3, 1);
  EXPECT_THAT(take_all(one), ElementsAre(1, 0, 3));
  EXPECT_THAT(take_all(two), ElementsAre(2));
  EXPECT_THAT(take_all(reader), IsEmpty());
}

TEST_F(PushInboxTest, WhatComesBeforeAGroupIsFollowedIsKept) {
  push(1, 1);
  inbox_->on_group_gap(2);
  inbox_->on_group_end(3, Error(Code::not_found, "no such room"));
  auto one = follow(1);
  push(2, 1);
  auto two = follow(2);
  auto three = follow(3);
  EXPECT_THAT(take_all(one), ElementsAre(1, 2));
  EXPECT_THAT(take_all(two), ElementsAre(0));
  EXPECT_THAT(three.next(Deadline::never()), fails_with(Code::not_found));
  EXPECT_THAT(unfollowed_, IsEmpty());
}

TEST_F(PushInboxTest, TheOldestGroupThatNobodyFollowsIsGivenUp) {
  for (std::uint32_t group = 1; group <= PushInbox::unclaimed_count_max + 1; ++group)
    push(1, group);
  EXPECT_THAT(unfollowed_, ElementsAre(1));
  push(2, 1);  // Sent before the server has heard of it.
  auto first = follow(1);
  EXPECT_THAT(first.next(Deadline::never()), fails_with(Code::aborted));
  auto second = follow(2);
  EXPECT_THAT(take_all(second), ElementsAre(1));
}

TEST_F(PushInboxTest, AGroupThatHasEndedIsForgottenWithTheOldest) {
  push(1, 1);
  inbox_->on_group_end(1, Error(Code::not_found, "closed"));
  for (std::uint32_t group = 2; group <= PushInbox::unclaimed_count_max + 1; ++group) {
    push(1, group);
  }
  EXPECT_THAT(unfollowed_, IsEmpty());
  auto first = follow(1);
  EXPECT_THAT(first.next(Deadline::never()), fails_with(Code::aborted));
}

TEST_F(PushInboxTest, AReaderThatGoesLeavesItsGroup) {
  {
    auto one = follow(1);
    auto moved = std::move(one);
    push(1, 1);
  }
  EXPECT_THAT(unfollowed_, ElementsAre(1));
  push(2, 1);
  inbox_->on_group_end(1, Error(Code::cancelled, "as the client asked"));
  auto again = follow(1);
  EXPECT_THAT(take_all(again), IsEmpty());
}

TEST_F(PushInboxTest, AGroupHasOneReaderOfItsType) {
  auto one = follow(1);
  auto another = follow(1);
  EXPECT_THAT(another.next(Deadline::never()), fails_with(Code::failed_precondition));
  push(1, 1);
  EXPECT_THAT(take_all(one), ElementsAre(1));

  auto wrong = follow<test::RoomEvent>(2);
  push(1, 2);
  EXPECT_THAT(wrong.next(Deadline::never()), fails_with(Code::invalid_argument));
  push(1, 3);
  auto wrong_and_late = follow<test::RoomEvent>(3);
  EXPECT_THAT(unfollowed_, ElementsAre(3));
  EXPECT_THAT(wrong_and_late.next(Deadline::never()), fails_with(Code::invalid_argument));
  auto none = follow(0);
  EXPECT_THAT(none.next(Deadline::never()), fails_with(Code::invalid_argument));
}

TEST_F(PushInboxTest, AnotherSessionEndsItsGroupsAndIsAGapOfTheReaders) {
  auto reader = pushes();
  auto group = follow(1);
  push(1, 2);
  inbox_->on_session(true);
  push(1, 1);
  inbox_->on_session(false);
  auto of_new_session = follow(2);
  push(2);
  push(3, 2);
  EXPECT_THAT(take_all(reader), ElementsAre(0, 2));
  EXPECT_THAT(take_all(group), ElementsAre(1));
  EXPECT_THAT(group.next(Deadline::never()), fails_with(Code::aborted));
  EXPECT_THAT(take_all(of_new_session), ElementsAre(3));
}

TEST_F(PushInboxTest, TheEndOfTheSessionEndsAllReadersUntilThereIsAnother) {
  auto reader = pushes();
  auto group = follow(1);
  inbox_->on_end(Error(Code::permission_denied, "no cheating"));
  for (auto* const ended : {&reader, &group}) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(ended->next(Deadline::never()), fails_with(Code::permission_denied));
    }
  }
  auto late = pushes();
  EXPECT_THAT(late.next(Deadline::never()), fails_with(Code::permission_denied));
  inbox_->on_session(false);
  auto next = pushes();
  push(1);
  EXPECT_THAT(take_all(next), ElementsAre(1));
  EXPECT_THAT(reader.next(Deadline::never()), fails_with(Code::permission_denied));
}

TEST_F(PushInboxTest, ReadersMayOutliveTheirClient) {
  auto reader = pushes();
  auto group = follow(1);
  push(1, 1);
  inbox_.reset();
  EXPECT_THAT(reader.next(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_THAT(take_all(group), ElementsAre(1));
  EXPECT_THAT(group.next(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_THAT(unfollowed_, IsEmpty());
}

TEST_F(PushInboxTest, NoSessionOpensItAfterItWasClosed) {
  inbox_->close();
  inbox_->on_session(false);
  EXPECT_THAT(pushes().next(Deadline::never()), fails_with(Code::unavailable));
}

}  // namespace
}  // namespace corolane::framework
