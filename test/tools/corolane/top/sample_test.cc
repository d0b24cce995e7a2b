// SPDX-License-Identifier: MIT
// Parsing of the pages of a node.
#include "tools/corolane/top/sample.h"

#include <gtest/gtest.h>

#include <tuple>

#include "coroutine/testing/matchers.h"

namespace corolane::tools::cli::top {
namespace {

TEST(BucketsTest, AQuantileIsTheBoundOfItsBucket) {
  const Buckets buckets{{{10, 50}, {20, 49}, {1'000, 1}}};

  EXPECT_EQ(buckets.count(), 100u);
  EXPECT_EQ(buckets.quantile(0.5), 10u);
  EXPECT_EQ(buckets.quantile(0.51), 20u);
  EXPECT_EQ(buckets.quantile(0.99), 20u);
  EXPECT_EQ(buckets.quantile(0.999), 1'000u);
  EXPECT_EQ(Buckets().quantile(0.5), 0u);
}

TEST(BucketsTest, SinceKeepsTheCountsInBetween) {
  const Buckets before{{{10, 50}, {20, 1}}};
  const Buckets now{{{10, 50}, {20, 3}, {40, 7}}};

  const Buckets between = now.since(before);

  EXPECT_EQ(between.count(), 9u);
  EXPECT_EQ(between.quantile(0.1), 20u);
  EXPECT_EQ(between.quantile(0.9), 40u);
}

TEST(BucketsTest, AddSumsUpEqualBounds) {
  Buckets sum{{{10, 1}, {30, 1}}};

  sum.add({{{10, 2}, {20, 1}}});

  EXPECT_EQ(sum.counts, (decltype(sum.counts){{10, 3}, {20, 1}, {30, 1}}));
}

TEST(ReadMethodsTest, MethodsOfServicesAndOfObjectsAreReadApart) {
  const auto methods = read_methods(R"({"methods": [
      {"method": "auction.Auction/Bid", "kind": "object", "calls": 50, "running": 2, "errors": 1,
       "refusals": 20, "latency_us": []},
      {"method": "auction.Auction/Bid", "kind": "service", "calls": 3, "running": 0, "errors": 0,
       "refusals": 1, "latency_us": [[100, 2], [200, 1]]}]})");

  ASSERT_TRUE(methods) << methods;
  EXPECT_TRUE(methods->is_whole);
  const auto& [object, service] = std::tie(methods->methods[0], methods->methods[1]);
  EXPECT_EQ(object.name, "auction.Auction/Bid");
  EXPECT_TRUE(object.is_of_objects);
  EXPECT_EQ(object.calls, 50u);
  EXPECT_EQ(object.errors, 1u);
  EXPECT_EQ(object.refusals, 20u);
  EXPECT_EQ(object.latency_us.count(), 0u);
  EXPECT_FALSE(service.is_of_objects);
  EXPECT_EQ(service.latency_us.quantile(0.99), 200u);
}

TEST(ReadMethodsTest, AShardThatIsLeftOutIsSeen) {
  const auto methods = read_methods(R"({"methods": [], "silent_shards": [{"shard": 1}]})");

  ASSERT_TRUE(methods) << methods;
  EXPECT_FALSE(methods->is_whole);
}

TEST(ReadTasksTest, TasksAreReadWithTheirIds) {
  const auto tasks = read_tasks(R"({"count": 1200, "tasks": [
      {"id": 17, "name": "Move\u001b[2J", "state": "suspended", "cancelled": true,
       "waiting_for": "lock", "in_state_seconds": 0.5, "age_seconds": 2.5, "cpu_seconds": 0.001,
       "spawned_at": "room.cc:3"},
      {"id": "1.4", "name": "b", "state": "ready", "cancelled": false, "waiting_for": "",
       "in_state_seconds": 0.0, "age_seconds": 1.0, "cpu_seconds": 0.0,
       "spawned_at": "a.cc:1"}]})");

  ASSERT_TRUE(tasks) << tasks;
  EXPECT_EQ(tasks->count, 1200u);
  EXPECT_EQ(tasks->tasks[0].id, "17");
  EXPECT_EQ(tasks->tasks[0].name, "Move\\x1b[2J");  // Escaped: it moves no cursor.
  EXPECT_EQ(tasks->tasks[0].state, "suspended, cancelled");
  EXPECT_EQ(tasks->tasks[1].id, "1.4");
}

TEST(ReadTasksTest, ATaskMayComeWithItsStack) {
  const auto task = read_task(R"({"id": 17, "name": "Move", "state": "suspended",
      "cancelled": false, "waiting_for": "lock", "in_state_seconds": 0.5, "age_seconds": 2.5,
      "cpu_seconds": 0.001, "spawned_at": "room.cc:3",
      "stack": [{"function": "lock", "file": "mutex.cc", "line": 7},
                {"function": "main", "file": "", "line": 0}]})");

  ASSERT_TRUE(task) << task;
  EXPECT_EQ(task->stack, (std::vector<std::string>{"lock (mutex.cc:7)", "main"}));
}

TEST(ReadStacksTest, GroupsAreReadWithTheirNames) {
  const auto stacks = read_stacks(R"({"count": 3, "groups": [
      {"count": 3, "state": "suspended", "waiting_for": "lock", "longest_in_state_seconds": 1.5,
       "longest_id": 4, "names": ["a", "b"], "has_more_names": true,
       "stack": [{"function": "lock", "file": "mutex.cc", "line": 7}]}]})");

  ASSERT_TRUE(stacks) << stacks;
  EXPECT_EQ(stacks->front().count, 3u);
  EXPECT_EQ(stacks->front().names, "a, b, ...");
}

TEST(ReadStatsTest, AWrongPageIsRefused) {
  EXPECT_THAT(read_stats("<html>"), test::fails_with(Code::invalid_argument));
  EXPECT_THAT(read_stats("{}"), test::fails_with(Code::invalid_argument));
  EXPECT_THAT(read_methods(R"({"methods": [{"method": 3}]})"),
              test::fails_with(Code::invalid_argument));
  EXPECT_THAT(read_tasks(R"({"count": -1, "tasks": 3})"), test::fails_with(Code::invalid_argument));
  EXPECT_THAT(read_stacks(R"({"groups": [{"count": "many"}]})"),
              test::fails_with(Code::invalid_argument));
}

}  // namespace
}  // namespace corolane::tools::cli::top
