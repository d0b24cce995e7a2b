// SPDX-License-Identifier: MIT
// Objects of a transient type, which no store knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::Puppet;
using test::PuppetStage;
using testing::HasSubstr;

class TransientTest : public testing::Test {
 protected:
  std::int64_t value() {
    const auto seen = stage_.puppet("a").look({});
    EXPECT_TRUE(seen) << seen;
    return seen ? seen->value() : -1;
  }

  MemoryStore table_;
  test::FaultyStore store_{table_};
  Puppet::Strings strings_{.run = [](Puppet& puppet) -> Result<void> {
    puppet.change().set_value(puppet.state().value() + 1);
    return puppet.save();
  }};
  PuppetStage stage_{store_, strings_, 1, {.idle_time_max = 1min}, {}, {.transient = true}};
};

TEST_F(TransientTest, TheStoreIsNeverAsked) {
  store_.cut();
  ASSERT_TRUE(stage_.puppet("a").run({}));
  ASSERT_TRUE(stage_.puppet("a").run({}));
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_EQ(value(), 2);
  EXPECT_EQ(store_.seal_count, 0);
  EXPECT_EQ(store_.write_count, 0);
  EXPECT_EQ(stage_.statistics().unsaved_count, 0U);
}

TEST_F(TransientTest, AnIdleObjectIsGone) {
  ASSERT_TRUE(stage_.puppet("a").run({}));
  ASSERT_TRUE(coroutine::sleep_for(2min));
  EXPECT_EQ(stage_.statistics().active_count, 0U);
  EXPECT_EQ(value(), 0);
}

TEST_F(TransientTest, ADestroyedObjectIsGoneAtOnce) {
  ASSERT_TRUE(stage_.puppet("a").run({}));
  strings_.run = [](Puppet& puppet) -> Result<void> {
    puppet.destroy();
    return {};
  };
  ASSERT_TRUE(stage_.puppet("a").run({}));
  EXPECT_EQ(value(), 0);
  EXPECT_EQ(store_.write_count, 0);
}

TEST_F(TransientTest, ARequestIdIsRememberedWhileTheObjectIsActive) {
  const rpc::CallOptions once{.request_id = {.caller = "ada", .sequence = 1}};
  ASSERT_TRUE(stage_.puppet("a").run({}, once));
  ASSERT_TRUE(stage_.puppet("a").run({}, once));
  EXPECT_EQ(value(), 1);
}

TEST_F(TransientTest, ThereAreNoReminders) {
  strings_.run = [](Puppet& puppet) {
    return puppet.reminders().at("later", puppet.wall_clock().now());
  };
  const auto failed = stage_.puppet("a").run({});
  ASSERT_THAT(failed, fails_with(Code::failed_precondition));
  EXPECT_THAT(failed.error().message(), HasSubstr("corolane.test.Puppet are transient"));
}

TEST_F(TransientTest, AnObjectIsNotServedByAFormerOwner) {
  ASSERT_TRUE(stage_.puppet("a").run({}));
  stage_.fence.set(TimePoint::min());
  EXPECT_FALSE(stage_.puppet("a").look({}, {.deadline = Deadline::after(1s)}));
}

}  // namespace
}  // namespace corolane::framework::detail
