// SPDX-License-Identifier: MIT
#include "framework/node/detail/cluster_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "coroutine/task.h"

namespace corolane::framework::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

WaitParty party(const std::string& task, const std::string& id) {
  WaitParty party;
  party.set_task(task);
  party.set_task_name("work");
  party.set_type("test.Guild");
  party.set_id(id);
  return party;
}

OnNode<LockWait> lock_wait(const WaitParty& waiting, const WaitParty& holder) {
  LockWait wait;
  *wait.mutable_waiting() = waiting;
  *wait.mutable_holder() = holder;
  return {.node = "a", .wait = wait};
}

TEST(ClusterWaitsTest, AnObjectDoesNotWaitForItself) {
  ClusterWaits waits;
  waits.locks.push_back(lock_wait(party("1", "lions"), party("2", "lions")));
  EXPECT_THAT(graph_of(waits).cycles(), IsEmpty());
}

TEST(ClusterWaitsTest, TwoTasksOfOneObjectMayWaitForEachOther) {
  ClusterWaits waits;
  waits.locks.push_back(lock_wait(party("1", "lions"), party("2", "lions")));
  waits.locks.push_back(lock_wait(party("2", "lions"), party("1", "lions")));
  EXPECT_THAT(graph_of(waits).cycles(),
              ElementsAre(UnorderedElementsAre("task 1 \"work\" on a", "task 2 \"work\" on a")));
}

TEST(ClusterWaitsTest, TwoObjectsThatWaitForLocksOfEachOtherAreACycle) {
  ClusterWaits waits;
  waits.locks.push_back(lock_wait(party("1", "lions"), party("2", "bears")));
  waits.locks.push_back(lock_wait(party("2", "bears"), party("1", "lions")));
  EXPECT_THAT(graph_of(waits).cycles(),
              ElementsAre(UnorderedElementsAre("test.Guild(\"lions\")", "test.Guild(\"bears\")")));
}

// An answer that cannot be read would leave its node out of the whole look.
TEST(ClusterWaitsTest, IdsAndNamesOfTasksAreAnyBytes) {
  const std::string bytes = "a\xff\xc3";
  WaitsReply reply;
  *reply.add_locks() = lock_wait(party("1", bytes), party("2", bytes)).wait;
  ObjectWait& wait = *reply.add_waits();
  wait.set_id(bytes);
  wait.set_from_id(bytes);
  wait.set_from_task_name(bytes);
  wait.set_method("test.Guild/" + bytes);  // Of a timer.
  TaskWaits& tasks = *reply.add_tasks();
  tasks.set_task_name(bytes);
  tasks.set_what(bytes);
  reply.mutable_locks(0)->set_lock(bytes);
  WaitsReply read;
  ASSERT_TRUE(read.ParseFromString(reply.SerializeAsString()));
  EXPECT_EQ(read.waits(0).from_id(), bytes);

  LoadsReply loads;
  loads.add_loads()->set_busiest_id(bytes);
  LoadsReply read_loads;
  ASSERT_TRUE(read_loads.ParseFromString(loads.SerializeAsString()));
}

TEST(ClusterWaitsTest, OtherTasksRunWhileALargeGraphIsMade) {
  ClusterWaits waits;
  for (int i = 0; i < 3'000; ++i) {
    ObjectWait wait;
    wait.set_from_type("test.Player");
    wait.set_from_id(std::to_string(i));
    wait.set_type("test.Guild");
    waits.calls.push_back({.node = "a", .wait = wait});
  }
  bool has_run = false;
  auto other = coroutine::spawn("other", [&] { has_run = true; });
  EXPECT_THAT(graph_of(waits).cycles(), IsEmpty());
  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace corolane::framework::detail
