// SPDX-License-Identifier: MIT
// An owner without a lease: the store proves what leaves its objects.
#include <gmock/gmock.h>
#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/push/detail/broadcast.h"
#include "test/framework/objects/one_cell.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::PuppetStage;
using testing::HasSubstr;

class ObjectProofTest : public test::OneCell {
 protected:
  ObjectProofTest() {
    stage_.router.set_on_loss([this] { ++loss_count_; });
    strings_.run = [](test::Puppet& puppet) -> Result<void> {
      puppet.change().set_value(puppet.state().value() + 1);
      return {};
    };
  }
  // The lease has ended, and the node serves on.
  static void end_lease(PuppetStage& stage) {
    stage.fence.set(now() - 1s);
    stage.fence.serve_until(now() + 1h);
    ASSERT_TRUE(stage.fence.is_in_time());
    ASSERT_FALSE(stage.fence.has_lease());
  }
  void let_next_owner_seal() { ASSERT_TRUE(table_.seal(key, 2, Deadline::never())); }
  test::PuppetClient puppet() { return stage_.puppet("a"); }

  int loss_count_ = 0;
};

TEST_F(ObjectProofTest, AReplyFollowsAQuestionToTheStore) {
  ASSERT_TRUE(puppet().look({}));
  const int seal_count = store_.seal_count;
  ASSERT_TRUE(puppet().look({}));
  EXPECT_EQ(store_.seal_count, seal_count) << "a lease is proof enough";
  end_lease(stage_);
  ASSERT_TRUE(puppet().look({}));
  EXPECT_EQ(store_.seal_count, seal_count + 1);
  ASSERT_TRUE(puppet().look({}));
  EXPECT_EQ(store_.seal_count, seal_count + 2) << "the proof of an earlier call proves nothing";
}

TEST_F(ObjectProofTest, AChangeIsStoredBeforeItsReply) {
  end_lease(stage_);
  ASSERT_TRUE(puppet().run({}));
  EXPECT_EQ(stored_value(), 1) << "although its method is not durable";
  EXPECT_EQ(store_.write_count, 1);
  EXPECT_EQ(store_.seal_count, 1) << "that of the activation: the write is the proof";
}

TEST_F(ObjectProofTest, AFormerOwnerAnswersNothing) {
  ASSERT_TRUE(puppet().run({}));
  end_lease(stage_);
  let_next_owner_seal();
  EXPECT_THAT(puppet().look({}, {.deadline = Deadline::after(1s)}), fails_with(Code::aborted));
  EXPECT_GE(loss_count_, 1) << "whoever could seal has found the key of the node gone";
}

TEST_F(ObjectProofTest, AFormerOwnerStoresNothing) {
  ASSERT_TRUE(puppet().look({}));
  end_lease(stage_);
  let_next_owner_seal();
  EXPECT_FALSE(puppet().run({}, {.deadline = Deadline::after(1s)}));
  EXPECT_EQ(table_.look(key).object.version, 0U);
  EXPECT_GE(loss_count_, 1);
}

TEST_F(ObjectProofTest, AnErrorNeedsAProofToo) {
  strings_.run = [](test::Puppet&) -> Result<void> {
    return Error(Code::failed_precondition, "a secret of the state");
  };
  ASSERT_FALSE(puppet().run({}));
  end_lease(stage_);
  EXPECT_THAT(puppet().run({}), fails_with(Code::failed_precondition));
  let_next_owner_seal();
  EXPECT_THAT(puppet().run({}, {.deadline = Deadline::after(1s)}), fails_with(Code::aborted));
}

TEST_F(ObjectProofTest, WithoutItsStoreAnOwnerProvesNothing) {
  ASSERT_TRUE(puppet().look({}));
  end_lease(stage_);
  store_.cut();
  const auto refused = puppet().look({}, {.deadline = Deadline::after(20s)});
  ASSERT_THAT(refused, fails_with(Code::unavailable));
  EXPECT_THAT(refused.error().message(), HasSubstr("the directory does not answer"));
  store_.mend();
  EXPECT_TRUE(puppet().look({}));
}

TEST_F(ObjectProofTest, ACallOfAnotherObjectFollowsAQuestionToTheStore) {
  strings_.run = [this](test::Puppet& puppet) -> Result<void> {
    if (puppet.id() != "a") return {};
    auto called = stage_.puppet("b").run({});
    return called ? Result<void>() : called.error();
  };
  ASSERT_TRUE(puppet().run({}));
  end_lease(stage_);
  const int seal_count = store_.seal_count;
  ASSERT_TRUE(puppet().run({}));
  EXPECT_EQ(store_.seal_count, seal_count + 3) << "for the call, and for both replies";
}

TEST_F(ObjectProofTest, AOneWayCallOfAFormerOwnerIsNotSent) {
  std::vector<std::string> arrived;
  bool is_lost = true;
  stage_.fence.set(now() + 1h);
  strings_.run_alone = [&](test::Puppet& puppet) -> Result<void> {
    arrived.push_back(puppet.id());
    return {};
  };
  strings_.run = [&](test::Puppet& puppet) -> Result<void> {
    EXPECT_TRUE(test::PuppetClient(puppet.router(), is_lost ? "lost" : "kept").run_alone({}));
    if (is_lost) stage_.ownership.set_epoch(stage_.type.partition_of("a"), 2);
    return {};
  };
  EXPECT_THAT(puppet().run({}), fails_with(Code::aborted));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  is_lost = false;
  EXPECT_TRUE(puppet().run({}));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(arrived, testing::ElementsAre("kept"));
}

TEST_F(ObjectProofTest, PublicationsWaitForTheirProof) {
  ASSERT_TRUE(activate());
  Broadcast::Reader reader = cell_->topic().read();
  EXPECT_TRUE(reader.next(Deadline::passed())) << "where it begins";
  end_lease(stage_);
  cell_->publish(std::make_shared<google::protobuf::BoolValue>());
  EXPECT_FALSE(reader.next(Deadline::passed()));
  ASSERT_TRUE(cell_->has_unproven());
  ASSERT_TRUE(cell_->prove(Deadline::after(1s)));
  cell_->end_turn();
  EXPECT_TRUE(reader.next(Deadline::passed()));
}

TEST_F(ObjectProofTest, PublicationsOfAFormerOwnerAreLost) {
  ASSERT_TRUE(activate());
  Broadcast::Reader reader = cell_->topic().read();
  EXPECT_TRUE(reader.next(Deadline::passed())) << "where it begins";
  end_lease(stage_);
  cell_->publish(std::make_shared<google::protobuf::BoolValue>());
  let_next_owner_seal();
  EXPECT_FALSE(cell_->prove(Deadline::after(1s)));
  cell_->end_turn();
  const auto next = reader.next(Deadline::passed());
  ASSERT_FALSE(next);
  EXPECT_NE(next.error().code(), Code::deadline_exceeded) << "they have ended";
}

TEST_F(ObjectProofTest, TransientObjectsRestUntilThereIsALease) {
  PuppetStage lobby(store_, strings_, 1, {}, {}, {.transient = true});
  ASSERT_TRUE(lobby.puppet("a").run({}));
  end_lease(lobby);
  const auto refused = lobby.puppet("a").look({}, {.deadline = Deadline::after(1s)});
  ASSERT_THAT(refused, fails_with(Code::unavailable));
  EXPECT_THAT(refused.error().message(), HasSubstr("is transient and rests"));
  lobby.fence.extend_lease(now() + 1h);
  const auto seen = lobby.puppet("a").look({});
  ASSERT_TRUE(seen) << seen;
  EXPECT_EQ(seen->value(), 1) << "it was never dropped";
}

}  // namespace
}  // namespace corolane::framework::detail
