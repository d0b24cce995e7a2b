// SPDX-License-Identifier: MIT
// The pages that show the cost of a node in time and memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coroutine/base/cycle_clock.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/sanitizers.h"
#include "framework/node/node.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/pages/pages.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using Json = nlohmann::json;

[[gnu::noinline]] void compute_for_a_page(Duration time) {
  const double cycles = static_cast<double>(time.count()) * cycles_per_ns();
  const std::uint64_t begin = cycle_count();
  while (static_cast<double>(cycle_count() - begin) < cycles) asm volatile("" : : : "memory");
}

class CostPagesTest : public testing::Test {
 protected:
  CostPagesTest() {
    node_.serve(test::SlowService());
    node_.host<test::Counter>();
    const auto started = node_.start();
    EXPECT_TRUE(started) << started;
  }

  net::HttpResponse page(const std::string& target) {
    return test::fetch(network_, node_.endpoints().admin, target);
  }
  Json json_page(const std::string& target) {
    return test::json_page(network_, node_.endpoints().admin, target);
  }
  Json method(std::string_view name, std::string_view kind) {
    const Json page = json_page("/methods?format=json");
    for (const Json& row : page["methods"]) {
      if (row["method"] == name && row["kind"] == kind) return row;
    }
    ADD_FAILURE() << "no method " << name;
    return {};
  }

  sim::SimulatedNetwork network_;
  test::PagedNode node_{test::node_config("pages"), network_};
};

TEST_F(CostPagesTest, AMethodShowsTheCostOfItsHandlers) {
  const auto client = test::connect(network_, node_);
  ASSERT_TRUE(client);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(test::SlowClient(*client).wait(test::wait_request(100ms)));
  }
  const Json row = method("corolane.test.Slow/Wait", "service");
  EXPECT_EQ(row["calls"], 4);
  EXPECT_EQ(row["running"], 0);
  EXPECT_EQ(row["errors"], 0);
  EXPECT_GE(row["p50_seconds"].get<double>(), 0.1);
  EXPECT_GE(row["timed_calls"], 1);
  EXPECT_LE(row["timed_calls"], 4);
  EXPECT_GE(row["measured_stacks"], 1);
  EXPECT_LE(row["measured_stacks"], row["timed_calls"]);
  // The handler waits in simulated time and uses little processor time.
  EXPECT_NEAR(row["run_seconds"].get<double>(), 0.1, 0.001);
  EXPECT_LT(row["cpu_seconds"].get<double>(), row["wait_seconds"].get<double>());
  EXPECT_GE(row["suspensions"].get<double>(), 1);
  EXPECT_GT(row["stack_used_bytes"].get<int>(), 0);
  EXPECT_LT(row["stack_used_bytes"].get<int>(), row["stack_size_bytes"].get<int>());
  EXPECT_GE(row["suggested_stack_bytes"].get<int>(), row["stack_used_bytes"].get<int>());
}

TEST_F(CostPagesTest, AMethodOfObjectsHasARowOfItsOwn) {
  test::CounterClient counter(node_.router(), "visits");
  for (int i = 0; i < 5; ++i) {
    auto call = coroutine::spawn("call", [&] { EXPECT_TRUE(counter.add(test::add_request(1))); });
    ASSERT_TRUE(call.join(Deadline::never()));
  }
  const Json row = method("corolane.test.Counter/Add", "object");
  EXPECT_EQ(row["calls"], 5);
  EXPECT_GE(row["timed_calls"], 1);
  EXPECT_LE(row["timed_calls"], 5);
  EXPECT_GE(row["measured_stacks"], 1);
  EXPECT_GT(row["stack_used_bytes"].get<int>(), 0);
  EXPECT_THAT(page("/methods").body, ContainsRegex("corolane.test.Counter/Add +object +5 +0 +0"));
}

TEST_F(CostPagesTest, ErrorsOfThePlayerAreRefusalsAndThoseOfTheServerErrors) {
  const auto client = test::connect(network_, node_);
  ASSERT_TRUE(client);
  ASSERT_FALSE(
      test::SlowClient(*client).wait(test::wait_request(1h), {.deadline = Deadline::after(10ms)}));
  test::CounterClient counter(node_.router(), "visits");
  test::AddRequest refused = test::add_request(1);
  refused.set_then_fail(true);
  for (int i = 0; i < 2; ++i) ASSERT_FALSE(counter.add(refused));
  ASSERT_FALSE(counter.add(test::add_request(1, 1h), {.deadline = Deadline::after(10ms)}));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const Json service = method("corolane.test.Slow/Wait", "service");
  EXPECT_EQ(service["errors"], 1);
  EXPECT_EQ(service["refusals"], 0);
  const Json object = method("corolane.test.Counter/Add", "object");
  EXPECT_EQ(object["calls"], 3);
  EXPECT_EQ(object["errors"], 1);
  EXPECT_EQ(object["refusals"], 2);
  EXPECT_THAT(page("/methods").body,
              ContainsRegex("^METHOD +OF +CALLS +RUNNING +ERRORS +REFUSALS "));
}

TEST_F(CostPagesTest, TheMostCalledMethodsComeFirst) {
  test::CounterClient counter(node_.router(), "visits");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(counter.get({}));
  ASSERT_TRUE(counter.add(test::add_request(1)));
  const Json methods = json_page("/methods?format=json")["methods"];
  ASSERT_GT(methods.size(), 3u);
  EXPECT_EQ(methods[0]["method"], "corolane.test.Counter/Get");
  EXPECT_EQ(methods[1]["method"], "corolane.test.Counter/Add");
  for (std::size_t i = 2; i < methods.size(); ++i) EXPECT_EQ(methods[i]["calls"], 0);
}

TEST_F(CostPagesTest, LatenciesComeInBucketsOnRequest) {
  const auto client = test::connect(network_, node_);
  ASSERT_TRUE(client);
  ASSERT_TRUE(test::SlowClient(*client).wait(test::wait_request(100ms)));
  const Json method = json_page("/methods?format=json&buckets=yes")["methods"][0];
  EXPECT_EQ(method["method"], "corolane.test.Slow/Wait");
  ASSERT_EQ(method["latency_us"].size(), 1u);
  EXPECT_NEAR(method["latency_us"][0][0].get<double>(), 100'000, 7'000);
  EXPECT_EQ(method["latency_us"][0][1], 1);
  EXPECT_FALSE(json_page("/methods?format=json")["methods"][0].contains("latency_us"));
}

TEST_F(CostPagesTest, ATraceShowsTheTasksThatRan) {
  coroutine::TaskGroup group;
  ASSERT_TRUE(group.spawn("drummer", [] {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(coroutine::sleep_for(20ms));
  }));
  const auto text = page("/trace?seconds=0.1").body;
  EXPECT_THAT(text, ContainsRegex("drummer +[45] "));
  EXPECT_THAT(text, HasSubstr("ui.perfetto.dev"));
  const Json trace = json_page("/trace?format=json&seconds=0.1");
  int count = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["name"] == "drummer") ++count;
  }
  EXPECT_GE(count, 4);
  EXPECT_TRUE(group.join(Deadline::never()));
}

TEST_F(CostPagesTest, TheDurationIsValidated) {
  for (const char* query : {"seconds=0", "seconds=-1", "seconds=soon", "seconds=1000"}) {
    EXPECT_EQ(page(std::string("/trace?") + query).status, 400U) << query;
    EXPECT_EQ(page(std::string("/profile?") + query).status, 400U) << query;
  }
  EXPECT_THAT(page("/trace?seconds=11").body, HasSubstr("at most 10"));
}

TEST_F(CostPagesTest, AProfileShowsTheTasksThatComputed) {
  if (!coroutine::Scheduler::current().statistics().measures_cpu) GTEST_SKIP();
  coroutine::TaskGroup group;
  ASSERT_TRUE(group.spawn("prime numbers", [] {
    while (coroutine::sleep_for(1ms)) compute_for_a_page(500us);
  }));
  const auto folded = page("/profile?seconds=1").body;
  EXPECT_THAT(folded,
              ContainsRegex("prime numbers;.*;corolane::framework::\\(anonymous namespace\\)::"
                            "compute_for_a_page.* [0-9]+\n"));
  const auto svg = page("/profile?seconds=0.5&format=svg");
  EXPECT_EQ(svg.content_type, "image/svg+xml");
  EXPECT_THAT(svg.body, HasSubstr("<title>prime numbers: "));
  const Json json = json_page("/profile?seconds=0.5&format=json");
  EXPECT_GT(json["samples"].get<int>(), 0);
  EXPECT_EQ(page("/profile?format=bitmap").status, 400U);
  group.cancel_and_join();
}

TEST_F(CostPagesTest, TheHeapPageShowsTheAllocator) {
  if (test::under_sanitizer) GTEST_SKIP() << "the allocator of the sanitizer has no statistics";
  const Json heap = json_page("/heap?format=json");
  EXPECT_GT(heap["allocated_bytes"].get<std::uint64_t>(), 0u);
  EXPECT_THAT(page("/heap").body, HasSubstr("allocated_bytes"));
  const auto profile = page("/heap?format=profile");
  EXPECT_EQ(profile.status, 503U);
  EXPECT_THAT(profile.body, HasSubstr("MALLOC_CONF=prof:true"));
}

TEST_F(CostPagesTest, AWaitingTaskShowsTheSizeOfItsStack) {
  auto sleeper = coroutine::spawn("sleeper", [] { return coroutine::sleep_for(1h); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  const Json row = json_page("/tasks?format=json&name=sleeper")["tasks"][0];
  EXPECT_GT(row["stack_used_bytes"].get<int>(), 100);
  EXPECT_LT(row["stack_used_bytes"].get<int>(), row["stack_size_bytes"].get<int>());
  sleeper.cancel();
}

}  // namespace
}  // namespace corolane::framework
