// SPDX-License-Identifier: MIT
#include "framework/push/detail/topic.h"

#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "coroutine/testing/matchers.h"

namespace corolane::framework::detail {
namespace {

using test::fails_with;

Broadcast::Message message(std::size_t size = 1) {
  auto message = std::make_shared<google::protobuf::StringValue>();
  message->set_value(std::string(size, 'x'));
  return message;
}

TEST(TopicTest, CountsUnreadMessages) {
  Topic topic({.epoch = 1, .sequence = 5});
  topic.publish(nullptr, /*is_held=*/false);
  EXPECT_EQ(topic.position().sequence, 6U);
  auto reader = topic.read();
  EXPECT_EQ(reader.next(Deadline::passed())->position.sequence, 6U);
}

TEST(TopicTest, HeldMessagesAreDeliveredLaterInOrder) {
  Topic topic({.epoch = 1, .sequence = 0});
  auto reader = topic.read();
  ASSERT_TRUE(reader.next(Deadline::passed()));
  topic.publish(message(), /*is_held=*/true);
  topic.publish(message(), /*is_held=*/false);
  EXPECT_TRUE(topic.has_held());
  EXPECT_THAT(reader.next(Deadline::passed()), fails_with(Code::deadline_exceeded));
  topic.release();
  EXPECT_FALSE(topic.has_held());
  EXPECT_EQ(reader.next(Deadline::passed())->position.sequence, 1U);
  EXPECT_EQ(reader.next(Deadline::passed())->position.sequence, 2U);
}

TEST(TopicTest, MessagesUpToAPositionMayBeReleasedAndTheRestTakenBack) {
  Topic topic({.epoch = 1, .sequence = 0});
  auto reader = topic.read();
  ASSERT_TRUE(reader.next(Deadline::passed()));
  topic.publish(message(), /*is_held=*/true);
  const Position first = topic.position();
  topic.publish(message(), /*is_held=*/true);
  topic.publish(message(), /*is_held=*/true);
  topic.release(first);
  EXPECT_EQ(reader.next(Deadline::passed())->position.sequence, 1U);
  EXPECT_THAT(reader.next(Deadline::passed()), fails_with(Code::deadline_exceeded));
  topic.take_back(first);
  EXPECT_FALSE(topic.has_held());
  topic.publish(message(), /*is_held=*/false);
  EXPECT_EQ(reader.next(Deadline::passed())->position.sequence, 2U);
}

// Their numbers are not used again, so a subscriber cannot take one message for another.
TEST(TopicTest, MessagesWithoutAReaderAreNotTakenBack) {
  Topic topic({.epoch = 1, .sequence = 0});
  const Position before = topic.position();
  topic.publish(nullptr, /*is_held=*/true);
  topic.publish(message(), /*is_held=*/true);
  topic.take_back(before);
  EXPECT_EQ(topic.position().sequence, 2U);
  topic.release(before);
  EXPECT_TRUE(topic.has_held());
}

TEST(TopicTest, TooManyHeldMessagesAreAGap) {
  Topic topic({.epoch = 1, .sequence = 0});
  auto reader = topic.read();
  ASSERT_TRUE(reader.next(Deadline::passed()));
  for (int i = 0; i < 11; ++i) topic.publish(message(100'000), /*is_held=*/true);
  topic.publish(message(), /*is_held=*/true);
  topic.release();
  const auto gap = reader.next(Deadline::passed());
  ASSERT_TRUE(gap) << gap;
  EXPECT_EQ(gap->gap, Gap::behind);
  EXPECT_EQ(gap->position.sequence, 12U);
}

TEST(TopicTest, MessagesHeldAtTheEndAreDropped) {
  Topic topic({.epoch = 1, .sequence = 0});
  auto before = topic.read();
  ASSERT_TRUE(before.next(Deadline::passed()));
  topic.publish(message(), /*is_held=*/false);
  topic.publish(message(), /*is_held=*/true);
  topic.end();
  EXPECT_TRUE(before.next(Deadline::passed()));
  EXPECT_THAT(before.next(Deadline::passed()), fails_with(Code::aborted));
  auto after = topic.read();
  EXPECT_EQ(after.next(Deadline::passed())->position.sequence, 2U);
  topic.publish(message(), /*is_held=*/false);
  EXPECT_EQ(after.next(Deadline::passed())->position.sequence, 3U);
}

}  // namespace
}  // namespace corolane::framework::detail
