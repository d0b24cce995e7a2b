// SPDX-License-Identifier: MIT
#include "framework/push/detail/outlet.h"

#include <gmock/gmock.h>
#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr FeedAddress local = {.shard = 1, .line = {}, .feed = 5};
constexpr FeedAddress remote = {
    .shard = 1, .line = {.node_epoch = 7, .shard = 2, .number = 1}, .feed = 5};

class OutletsTest : public testing::Test, private OutletPost {
 protected:
  OutletsTest() { broadcast_->begin({.epoch = 1, .sequence = 10}, Gap::begin); }

  void send(const FeedAddress& to, std::optional<PublishedBatch> batch) override {
    std::string what = to == local ? "local " : "remote ";
    if (batch) {
      EXPECT_EQ(batch->bytes.size(), to == local ? 0U : batch->messages.size());
      what += std::to_string(batch->after.sequence) + "+" + std::to_string(batch->messages.size());
    } else {
      what += "end";
    }
    sent_.push_back(what);
  }
  void publish(int count = 1) {
    for (int i = 0; i < count; ++i) {
      broadcast_->append(std::make_shared<google::protobuf::StringValue>());
    }
  }
  // All that was sent since the last call, once the loop has turned.
  std::vector<std::string> sent() {
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    return std::exchange(sent_, {});
  }

  std::shared_ptr<Broadcast> broadcast_ = std::make_shared<Broadcast>(Broadcast::Bounds());
  std::vector<std::string> sent_;
  Outlets outlets_{*this};
};

TEST_F(OutletsTest, ABurstIsOneBatch) {
  outlets_.add(local, Broadcast::Reader(broadcast_));
  EXPECT_THAT(sent_, IsEmpty()) << "not amid a publication";
  EXPECT_THAT(sent(), ElementsAre("local 10+0"));
  outlets_.resume(local);
  EXPECT_THAT(sent(), IsEmpty());
  publish(3);
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_THAT(sent(), ElementsAre("local 10+3"));
}

TEST_F(OutletsTest, TheNextBatchWaitsForRoom) {
  outlets_.add(local, Broadcast::Reader(broadcast_));
  EXPECT_THAT(sent(), ElementsAre("local 10+0"));
  publish();
  EXPECT_THAT(sent(), IsEmpty());
  publish();
  outlets_.resume(local);
  EXPECT_THAT(sent(), ElementsAre("local 10+2"));
}

TEST_F(OutletsTest, WhatIsTooMuchForAReceiverIsAGap) {
  outlets_.add(local, Broadcast::Reader(broadcast_));
  EXPECT_THAT(sent(), ElementsAre("local 10+0"));
  publish(1'000);
  outlets_.resume(local);
  EXPECT_THAT(sent(), ElementsAre("local 1010+0"));
}

TEST_F(OutletsTest, TheEndComesAfterAllPublications) {
  outlets_.add(local, Broadcast::Reader(broadcast_));
  EXPECT_THAT(sent(), ElementsAre("local 10+0"));
  publish();
  broadcast_->end(Error(Code::aborted, "over"));
  outlets_.resume(local);
  EXPECT_THAT(sent(), ElementsAre("local 10+1"));
  outlets_.resume(local);
  EXPECT_THAT(sent(), ElementsAre("local end"));
  EXPECT_EQ(outlets_.statistics().count, 0U);
}

TEST_F(OutletsTest, AFeedThatContinuesHearsThatItHasMissedNothing) {
  outlets_.add(local, Broadcast::Reader(broadcast_, {.epoch = 1, .sequence = 10}));
  EXPECT_THAT(sent(), ElementsAre("local 10+0"));
  outlets_.resume(local);
  EXPECT_THAT(sent(), IsEmpty());
  publish();
  EXPECT_THAT(sent(), ElementsAre("local 10+1"));
  outlets_.resume(local);
  outlets_.add(remote, Broadcast::Reader(broadcast_, {.epoch = 1, .sequence = 10}));
  EXPECT_THAT(sent(), ElementsAre("remote 10+1"));
}

TEST_F(OutletsTest, NothingIsSentToAnAddressThatWasRemoved) {
  outlets_.add(local, Broadcast::Reader(broadcast_));
  EXPECT_THAT(sent(), ElementsAre("local 10+0"));
  outlets_.resume(local);
  publish();
  outlets_.remove(local);
  outlets_.resume(local);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_EQ(broadcast_->reader_count(), 0U);
}

TEST_F(OutletsTest, PublicationsAreSerialisedForOtherNodesOnly) {
  const FeedAddress other = {.shard = 0, .line = remote.line, .feed = 6};
  for (const FeedAddress& address : {local, remote, other}) {
    outlets_.add(address, Broadcast::Reader(broadcast_));
  }
  EXPECT_THAT(sent(), ElementsAre("local 10+0", "remote 10+0", "remote 10+0"));
  for (const FeedAddress& address : {local, remote, other}) outlets_.resume(address);
  publish(2);
  EXPECT_THAT(sent(), ElementsAre("local 10+2", "remote 10+2", "remote 10+2"));
  EXPECT_EQ(outlets_.statistics().serialised_count, 2U);
}

TEST_F(OutletsTest, NothingIsAddedAfterTheStop) {
  outlets_.add(local, Broadcast::Reader(broadcast_));
  outlets_.stop();
  outlets_.add(local, Broadcast::Reader(broadcast_));
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_EQ(broadcast_->reader_count(), 0U);
}

}  // namespace
}  // namespace corolane::framework::detail
