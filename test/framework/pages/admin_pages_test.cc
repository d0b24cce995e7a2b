// SPDX-License-Identifier: MIT
#include "framework/pages/admin_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "coroutine/async/async_group.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/node/node.h"
#include "net/testing/network.h"
#include "test/framework/pages/pages.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::json;

class AdminPagesTest : public testing::Test {
 protected:
  AdminPagesTest() {
    node_.serve(test::SlowService());
    const auto started = node_.start();
    EXPECT_TRUE(started) << started;
  }

  net::HttpResponse page(const std::string& target) {
    return test::fetch(network_, node_.endpoints().admin, target);
  }
  Json json_page(const std::string& target) {
    return test::json_page(network_, node_.endpoints().admin, target);
  }

  void call_slow(std::chrono::milliseconds delay) {
    const auto client = test::connect(network_, node_);
    ASSERT_TRUE(client);
    ASSERT_TRUE(test::SlowClient(*client).wait(test::wait_request(delay)));
  }

  sim::SimulatedNetwork network_;
  test::PagedNode node_{test::node_config("pages"), network_};
};

TEST_F(AdminPagesTest, TheRootListsThemAll) {
  const std::string list = page("/").body;
  for (const char* path :
       {"/health", "/ready", "/metrics", "/stats", "/tasks", "/sites", "/objects", "/stalls",
        "/objects/{type}/{id}", "/connections", "/slow", "/log"}) {
    EXPECT_THAT(list, HasSubstr(path));
  }
}

TEST_F(AdminPagesTest, TheRootTellsBrowsersWhatToDraw) {
  const Json root = json_page("/?format=json");
  EXPECT_EQ(root["node"]["name"], "pages");
  const auto tasks = std::ranges::find(
      root["pages"], "/tasks", [](const Json& page) { return page["path"].get<std::string>(); });
  ASSERT_NE(tasks, root["pages"].end());
  EXPECT_EQ((*tasks)["is_shown"], true);
}

TEST_F(AdminPagesTest, ANodeIsReadyUntilItStops) {
  EXPECT_EQ(page("/ready").body, "ready\n");
  EXPECT_EQ(json_page("/ready?format=json")["ready"], true);
  auto call = coroutine::spawn("call", [&] { call_slow(1s); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  auto stop = coroutine::spawn("stop", [&] { return node_.stop(Deadline::after(5s)); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_EQ(page("/ready").status, 503U);
  EXPECT_EQ(page("/ready").body, "the node is stopping\n");
  EXPECT_TRUE(call.join(Deadline::never()));
  EXPECT_TRUE(stop.join(Deadline::never()));
}

TEST_F(AdminPagesTest, TasksAreFilteredByWhatTheyAreAndWaitFor) {
  coroutine::Event event("the gong");
  coroutine::TaskGroup group;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(group.spawn("listener", [&] { static_cast<void>(event.wait(Deadline::never())); }));
  }
  ASSERT_TRUE(group.spawn("sleeper", [] { static_cast<void>(coroutine::sleep_for(1h)); }));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const auto count = [&](const std::string& query) -> std::size_t {
    const Json found = json_page("/tasks?format=json&" + query);
    EXPECT_EQ(found["count"], found["tasks"].size());
    return found["count"];
  };
  EXPECT_EQ(count("waiting_for=gong"), 3u);
  EXPECT_EQ(count("waiting_for=the%20gong&name=listen"), 3u);
  EXPECT_EQ(count("name=sleeper&state=suspended"), 1u);
  EXPECT_EQ(count("name=sleeper&state=ready"), 0u);
  EXPECT_EQ(count("site=admin_pages_test.cc&age=2s"), 4u);
  EXPECT_EQ(count("site=admin_pages_test.cc&age=3s"), 0u);
  EXPECT_EQ(count("name=listener&shard=0"), 3u);
  EXPECT_EQ(count("name=listener&shard=1"), 0u);
  EXPECT_THAT(page("/tasks?group=stack&name=listener").body, HasSubstr("3 tasks at 1 place\n"));
  for (const char* wrong : {"state=asleep", "age=5", "shard=first", "group=name", "name=100%"}) {
    const auto response = page("/tasks?" + std::string(wrong));
    EXPECT_EQ(response.status, 400U) << wrong;
    EXPECT_FALSE(response.body.empty()) << wrong;
  }
  group.cancel_and_join();
}

TEST_F(AdminPagesTest, WithoutAWatchdogThePageOfStallsSaysSo) {
  EXPECT_THAT(page("/stalls").body, HasSubstr("stalls are not detected: see node.stall_time_min"));
  EXPECT_EQ(json_page("/stalls?format=json")["are_watched"], false);
}

TEST_F(AdminPagesTest, HistogramsTellTheirBucketsWhenAsked) {
  call_slow(100ms);
  const Json latency =
      json_page("/stats?buckets=yes")["rpc"]["methods"]["corolane.test.Slow/Wait"]["latency_us"];
  ASSERT_EQ(latency["buckets"].size(), 1u);
  EXPECT_GE(latency["buckets"][0][0], 100'000);
  EXPECT_EQ(latency["buckets"][0][1], 1);
  EXPECT_FALSE(json_page("/stats")["coroutine"]["switch_ns"].contains("buckets"));
}

TEST_F(AdminPagesTest, StatsTellWhichNodeItIs) {
  ASSERT_TRUE(coroutine::sleep_for(2500ms));
  const Json node = json_page("/stats")["node"];
  EXPECT_EQ(node["name"], "pages");
  EXPECT_EQ(node["stopping"], false);
  EXPECT_EQ(node["listen"], to_string(node_.endpoints().clients));
  EXPECT_EQ(node["admin"], to_string(node_.endpoints().admin));
  EXPECT_GE(node["uptime_seconds"], 2.5);
  EXPECT_TRUE(node.contains("version"));
  EXPECT_TRUE(node.contains("pid"));
}

TEST_F(AdminPagesTest, StatsTellWhatCoroutinesCost) {
  const Json stats = json_page("/stats");
  for (const char* cost : {"switch_ns", "create_ns"}) {
    for (const char* key : {"count", "mean", "p50", "p99", "max"}) {
      EXPECT_TRUE(stats["coroutine"][cost].contains(key)) << cost << '.' << key;
    }
  }
  for (const char* key : {"tasks", "tasks_peak", "created", "switches", "turns"}) {
    EXPECT_GT(stats["coroutine"][key], 0) << key;
  }
  EXPECT_EQ(stats["coroutine"]["stray_exceptions"],
            coroutine::Scheduler::current().statistics().stray_exception_count);
  EXPECT_TRUE(stats["timers"].contains("armed"));
}

TEST_F(AdminPagesTest, StatsTellWhatTheStackPoolDoes) {
  const Json pool = json_page("/stats")["stack_pool"];
  for (const char* key :
       {"in_use", "idle", "cold", "peak", "demand", "cap", "hits", "misses", "hit_rate", "trimmed",
        "refused", "mapped_bytes", "committed_bytes", "guard", "shared_guards"}) {
    EXPECT_TRUE(pool.contains(key)) << key;
  }
  EXPECT_GT(pool["in_use"], 0);
  EXPECT_GE(pool["demand"], pool["in_use"]);
  EXPECT_GT(pool["committed_bytes"], 0);
  EXPECT_GT(pool["mapped_bytes"], pool["committed_bytes"]);
  // Only guards by mprotect are limited.
  const Json& shared = pool["shared_guards"];
  EXPECT_EQ(shared["cap"] > 0, pool["guard"] == "mprotect");
  EXPECT_GE(shared["cap"], shared["taken"]);
  EXPECT_EQ(shared["pools"] > 0, pool["guard"] == "mprotect");
}

TEST_F(AdminPagesTest, StatsTellWhatEveryMethodDid) {
  call_slow(100ms);
  const Json rpc = json_page("/stats")["rpc"];
  for (const char* key : {"connections", "accepted", "running", "protocol_errors"}) {
    EXPECT_TRUE(rpc.contains(key)) << key;
  }
  const Json method = rpc["methods"]["corolane.test.Slow/Wait"];
  EXPECT_EQ(method["calls"], 1);
  EXPECT_EQ(method["errors"], 0);
  EXPECT_EQ(method["refused"], 0);
  EXPECT_EQ(method["running"], 0);
  EXPECT_GE(method["latency_us"]["p50"], 100'000);
  EXPECT_GE(method["latency_us"]["p99"], 100'000);
}

TEST_F(AdminPagesTest, StatsTellWhatEachShardHas) {
  call_slow(1ms);
  const Json stats = json_page("/stats");
  ASSERT_EQ(stats["shards"].size(), 1U);
  const Json& shard = stats["shards"][0];
  EXPECT_EQ(shard["shard"], 0);
  EXPECT_EQ(shard["tasks"], stats["coroutine"]["tasks"]);
  EXPECT_EQ(shard["switches"], stats["coroutine"]["switches"]);
  EXPECT_EQ(shard["connections"], stats["rpc"]["connections"]);
  EXPECT_EQ(shard["running_calls"], 0);
  EXPECT_EQ(shard["active_objects"], 0);
}

TEST_F(AdminPagesTest, TasksTellWhatEachWaitsForAndWhereItWasSpawned) {
  coroutine::Event move("a move");
  auto waiting = coroutine::spawn("spectator", [&] { return move.wait(Deadline::never()); });
  ASSERT_TRUE(coroutine::sleep_for(1500ms));
  const auto response = page("/tasks");
  EXPECT_EQ(response.status, 200U);
  EXPECT_THAT(response.body, StartsWith("ID"));
  EXPECT_THAT(
      response.body,
      ContainsRegex("\n[0-9]+ +spectator +suspended +a move +1\\.5[0-9]+s +1\\.5[0-9]+s +[0-9.]+s "
                    "+[0-9.]+ of [0-9]+K +"
                    "test/framework/pages/admin_pages_test.cc:[0-9]+\n"));
  EXPECT_THAT(response.body, ContainsRegex("\n[0-9]+ tasks\n$"));
}

coroutine::Async<void> listen_for(coroutine::Event& event) {
  co_return co_await coroutine::until(event.waiting(), Deadline::never());
}

TEST_F(AdminPagesTest, StacklessCoroutinesAreCountedByWhatTheyWaitForAndWhere) {
  EXPECT_THAT(page("/tasks/stackless").body, HasSubstr("0 stackless coroutines"));
  coroutine::Event howl("a howl");
  coroutine::AsyncGroup wolves;
  for (int number = 0; number < 7; ++number) wolves.spawn(listen_for(howl));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_THAT(page("/tasks").body, HasSubstr("\n7 stackless coroutines besides"));
  EXPECT_EQ(json_page("/stats")["coroutine"]["stackless"], 7);
  EXPECT_THAT(page("/metrics").body, HasSubstr("\ncorolane_coroutine_stackless 7\n"));
  EXPECT_THAT(page("/tasks/stackless").body, HasSubstr("7 stackless coroutines\n"));
  const Json row = json_page("/tasks/stackless?format=json")["groups"][0];
  EXPECT_EQ(row["count"], 7);
  EXPECT_EQ(row["waiting_for"], "a howl");
  EXPECT_NEAR(row["longest_in_state_seconds"].get<double>(), 60, 3);
  EXPECT_THAT(row["function"].get<std::string>(), HasSubstr("listen_for"));
  EXPECT_THAT(row["group_made_at"].get<std::string>(),
              StartsWith("test/framework/pages/admin_pages_test.cc:"));
  howl.set();
  EXPECT_TRUE(wolves.join(Deadline::never()));
}

TEST_F(AdminPagesTest, SitesTellWhatTheTasksOfEachPlaceCost) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(coroutine::spawn("gnome", [] {}).join(Deadline::never()));
  auto troll = coroutine::spawn("gnome's neighbour", [] { return coroutine::sleep_for(1s); });
  ASSERT_TRUE(coroutine::yield());
  const std::string body = page("/sites").body;
  EXPECT_THAT(body, StartsWith("CPU"));
  EXPECT_THAT(body, ContainsRegex("\n[0-9.]+s +3 +0 +1 +[0-9]+ +[0-9]+ +gnome +"
                                  "test/framework/pages/admin_pages_test.cc:[0-9]+\n"));
  EXPECT_THAT(body, ContainsRegex("\n[0-9.]+s +1 +1 +0 +0 +0 +gnome's neighbour +test/"));

  const Json json = json_page("/sites?format=json");
  const auto row = std::find_if(json["sites"].begin(), json["sites"].end(),
                                [](const Json& site) { return site["first_name"] == "gnome"; });
  ASSERT_NE(row, json["sites"].end());
  EXPECT_EQ((*row)["spawned"], 3);
  EXPECT_EQ((*row)["alive"], 0);
  EXPECT_EQ((*row)["stack_measured"], 1);
  EXPECT_GT((*row)["stack_used_bytes_max"], 0);
  for (const char* key : {"spawned_at", "cpu_seconds", "stack_size_bytes"}) {
    EXPECT_TRUE(row->contains(key)) << key;
  }
  EXPECT_EQ(page("/sites?format=xml").status, 400U);
}

TEST_F(AdminPagesTest, ATaskIsOneRowWhateverItsNameHolds) {
  auto clears_screen = coroutine::spawn("a\n\x1b[2J", [] {});
  auto cut_in_half = coroutine::spawn(std::string(29, 'x') + "\u20ac", [] {});
  const std::string body = page("/tasks").body;
  EXPECT_THAT(body, ContainsRegex("\n[0-9]+ +a\\\\n\\\\x1b\\[2J +(ready|ended) +-"));
  EXPECT_THAT(body, ContainsRegex("\n[0-9]+ +x{29}\\\\xe2\\\\x82 +(ready|ended) +-"));
  EXPECT_THAT(body, Not(HasSubstr("\x1b")));
}

TEST_F(AdminPagesTest, TasksAreJsonForPrograms) {
  coroutine::Event move("a move");
  auto waiting =
      coroutine::spawn("spectator \"x\" \xff", [&] { return move.wait(Deadline::never()); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const Json page = json_page("/tasks?format=json");
  ASSERT_EQ(page["count"], page["tasks"].size());
  Json found;
  for (const Json& task : page["tasks"]) {
    if (task["waiting_for"] == "a move") found = task;
  }
  EXPECT_EQ(found["name"], "spectator \"x\" \ufffd");
  EXPECT_EQ(found["state"], "suspended");
  EXPECT_EQ(found["cancelled"], false);
  EXPECT_GE(found["in_state_seconds"], 1.0);
  EXPECT_GE(found["age_seconds"], 1.0);
  EXPECT_THAT(found["spawned_at"], StartsWith("test/framework/pages/admin_pages_test.cc:"));
}

TEST_F(AdminPagesTest, TheOldestOfVeryManyTasksAreShown) {
  coroutine::Event end;
  coroutine::TaskGroup crowd;
  for (int i = 0; i < 1'200; ++i) {
    ASSERT_TRUE(crowd.spawn("crowd", [&] { return end.wait(Deadline::never()); }));
  }
  EXPECT_THAT(page("/tasks").body, ContainsRegex("\n12[0-9][0-9] tasks, the 1000 oldest shown\n$"));
  const Json json = json_page("/tasks?format=json");
  EXPECT_EQ(json["tasks"].size(), 1'000);
  EXPECT_GT(json["count"], 1'200);
}

TEST_F(AdminPagesTest, StacksTellWhereTasksWaitEqualOnesTogether) {
  coroutine::Event end("the end");
  coroutine::TaskGroup crowd;
  for (int i = 0; i < 450; ++i) {  // More than are looked at in one go.
    ASSERT_TRUE(crowd.spawn("crowd", [&] { return end.wait(Deadline::never()); }));
  }
  ASSERT_TRUE(coroutine::sleep_for(1500ms));
  EXPECT_THAT(page("/tasks/stacks").body,
              ContainsRegex("^450 tasks suspended, waits for the end, for up to 1\\.5[0-9]+ s "
                            "\\(task [0-9]+\\): \"crowd\"\n"
                            ".*    at .*wait.*\n"
                            "    at .*\\(test/framework/pages/admin_pages_test.cc:[0-9]+\\)\n"));
  EXPECT_THAT(page("/tasks/stacks").body, ContainsRegex("\n[0-9]+ tasks at [0-9]+ places\n$"));

  const Json json = json_page("/tasks/stacks?format=json");
  EXPECT_GT(json["count"], 450);
  const Json& group = json["groups"][0];
  EXPECT_EQ(group["count"], 450);
  EXPECT_EQ(group["state"], "suspended");
  EXPECT_EQ(group["waiting_for"], "the end");
  EXPECT_EQ(group["names"], Json::array({"crowd"}));
  EXPECT_GE(group["longest_in_state_seconds"], 1.5);
  EXPECT_THAT(group["stack"].dump(),
              HasSubstr("\"file\":\"test/framework/pages/admin_pages_test.cc\""));
}

TEST_F(AdminPagesTest, OneTaskIsShownWithItsStack) {
  coroutine::Event move("a move");
  auto waiting = coroutine::spawn("spectator", [&] { return move.wait(Deadline::never()); });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  Json found;
  const Json all = json_page("/tasks?format=json");
  for (const Json& task : all["tasks"]) {
    if (task["waiting_for"] == "a move") found = task;
  }
  const std::string path = "/tasks/" + found["id"].dump();
  EXPECT_THAT(page(path).body,
              ContainsRegex("^ID .*\n[0-9]+ +spectator .*\n"
                            ".*    at .*wait.*\n"
                            "    at .*\\(test/framework/pages/admin_pages_test.cc:[0-9]+\\)\n"));
  const Json task = json_page(path + "?format=json");
  EXPECT_EQ(task["name"], "spectator");
  EXPECT_THAT(task["stack"].dump(),
              HasSubstr("\"file\":\"test/framework/pages/admin_pages_test.cc\""));
}

TEST_F(AdminPagesTest, ATaskWithoutAStackSaysWhy) {
  auto done = coroutine::spawn("done", [] {});
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const auto id = coroutine::Scheduler::current().tasks().back().id;
  EXPECT_THAT(
      page("/tasks/" + std::to_string(id)).body,
      ContainsRegex("\n[0-9]+ +done +ended .*\nno stack: it has not begun or has ended\n$"));
}

TEST_F(AdminPagesTest, ATaskThatIsNotAliveIsNotFound) {
  for (const char* id : {"0", "987654321", "x", "1x", "99999999999999999999999"}) {
    const auto response = page(std::string("/tasks/") + id);
    EXPECT_EQ(response.status, 404U) << id;
    EXPECT_THAT(response.body, StartsWith(std::string("no task ") + id));
  }
}

TEST_F(AdminPagesTest, AnUnknownFormatIsRefusedWithTheRightOnes) {
  const auto response = page("/tasks?format=xml");
  EXPECT_EQ(response.status, 400U);
  EXPECT_EQ(response.body, "format is text or json, as in /tasks?format=json\n");
  EXPECT_EQ(page("/tasks/stacks?format=xml").status, 400U);
}

TEST_F(AdminPagesTest, MetricsHaveTheContentTypeOfTheirFormat) {
  const auto response = page("/metrics");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(response.body, StartsWith("# HELP corolane_"));
}

}  // namespace
}  // namespace corolane::framework
