// SPDX-License-Identifier: MIT
// The publications of one object: when they leave it, and when they are lost.
#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "framework/push/detail/broadcast.h"
#include "test/framework/objects/one_cell.h"

namespace corolane::framework::detail {
namespace {

// An active object with a reader of its publications; a read takes no time.
class ObjectPublishingTest : public test::OneCell {
 protected:
  ObjectPublishingTest() {
    EXPECT_TRUE(activate());
    reader_.emplace(cell_->topic().read());
    EXPECT_TRUE(reader_->next(Deadline::passed())) << "where it begins";
  }
  void publish() { cell_->publish(std::make_shared<google::protobuf::BoolValue>()); }
  // The number of messages that have arrived since the last call.
  int read_all() {
    int count = 0;
    for (;; ++count) {
      const auto next = reader_->next(Deadline::passed());
      if (next) continue;
      is_over_ = next.error().code() != Code::deadline_exceeded;
      return count;
    }
  }

  std::optional<Broadcast::Reader> reader_;
  bool is_over_ = false;
};

TEST_F(ObjectPublishingTest, PublicationsLeaveAtOnce) {
  EXPECT_TRUE(cell_->is_followed());
  EXPECT_EQ(cell_->reader_count(), 1U);
  publish();
  publish();
  EXPECT_EQ(read_all(), 2);
  EXPECT_EQ(stage_.type.counts.publication_count, 2U);
  reader_.reset();
  EXPECT_FALSE(cell_->is_followed());
}

TEST_F(ObjectPublishingTest, PublicationsOfAHoldingTurnLeaveAtItsEnd) {
  cell_->begin_durable_turn();
  publish();
  EXPECT_EQ(read_all(), 0);
  cell_->end_turn();
  EXPECT_EQ(read_all(), 1);
  publish();
  EXPECT_EQ(read_all(), 1) << "the next turn does not hold";
}

TEST_F(ObjectPublishingTest, PublicationsOfAHiddenChangeLeaveWhenItIsStored) {
  cell_->begin_durable_turn();
  set(1);
  publish();
  store_.cut();
  EXPECT_FALSE(save());
  cell_->hide_change();
  cell_->end_turn();
  EXPECT_EQ(read_all(), 0);
  publish();
  EXPECT_EQ(read_all(), 0) << "after a hidden one";
  store_.mend();
  EXPECT_TRUE(save());
  EXPECT_EQ(read_all(), 2);
}

TEST_F(ObjectPublishingTest, AFencedOwnerEndsItsPublications) {
  publish();
  stage_.fence.set(TimePoint::min());
  publish();
  EXPECT_EQ(read_all(), 1);
  EXPECT_TRUE(is_over_);
}

TEST_F(ObjectPublishingTest, HeldPublicationsOfAFencedOwnerAreLost) {
  cell_->begin_durable_turn();
  publish();
  stage_.fence.set(TimePoint::min());
  cell_->end_turn();
  EXPECT_EQ(read_all(), 0);
  EXPECT_TRUE(is_over_);
}

TEST_F(ObjectPublishingTest, TheNextActivationPublishesLater) {
  publish();
  const Position last = cell_->published();
  cell_->drop();
  EXPECT_EQ(read_all(), 1);
  EXPECT_TRUE(is_over_);
  ASSERT_TRUE(activate());
  EXPECT_GT(cell_->published(), last);
}

}  // namespace
}  // namespace corolane::framework::detail
