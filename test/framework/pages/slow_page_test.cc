// SPDX-License-Identifier: MIT
// The slowest calls of the last minutes, and the calls that failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "coroutine/task.h"
#include "framework/node/node.h"
#include "framework/telemetry/slow_calls.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/pages/pages.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::Counter;
using test::CounterClient;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

class SlowPageTest : public testing::Test {
 protected:
  SlowPageTest() {
    node_.serve(test::SlowService());
    node_.host<Counter>();
    const auto started = node_.start();
    EXPECT_TRUE(started) << started;
    client_ = test::connect(network_, node_);
  }

  net::HttpResponse page(const std::string& target) {
    return test::fetch(network_, node_.endpoints().admin, target);
  }
  Json json(const std::string& query = "") {
    return test::json_page(network_, node_.endpoints().admin, "/slow?format=json" + query);
  }
  void call_slow(std::chrono::milliseconds delay) {
    ASSERT_TRUE(test::SlowClient(*client_).wait(test::wait_request(delay),
                                                {.deadline = Deadline::after(1min)}));
  }

  sim::SimulatedNetwork network_;
  test::PagedNode node_{test::node_config("slow"), network_};
  std::unique_ptr<rpc::Client> client_;
};

TEST_F(SlowPageTest, TheSlowestCallsComeFirstWithCallerAndDuration) {
  call_slow(200ms);
  call_slow(900ms);
  call_slow(10ms);
  const Json slowest = json()["slowest"];
  ASSERT_EQ(slowest.size(), 3u);
  EXPECT_EQ(slowest[0]["method"], "corolane.test.Slow/Wait");
  EXPECT_NEAR(slowest[0]["took_seconds"].get<double>(), 0.9, 0.01);
  EXPECT_NEAR(slowest[0]["run_seconds"].get<double>(), 0.9, 0.01);
  EXPECT_NEAR(slowest[1]["took_seconds"].get<double>(), 0.2, 0.01);
  EXPECT_THAT(slowest[0]["caller"].get<std::string>(), StartsWith("client:"));
  EXPECT_EQ(slowest[0]["object"], "");
  EXPECT_EQ(slowest[0]["code"], "ok");
  EXPECT_THAT(page("/slow").body,
              ContainsRegex("^SLOWEST +OBJECT +TOOK +QUEUE +RUN +AT +CALLER +TRACE +OUTCOME\n"
                            "corolane.test.Slow/Wait +- +0\\.9[0-9]+s +0\\.0[0-9]+s +0\\.9[0-9]+s +"
                            "20[0-9T:.-]+Z +client:[0-9]+ +- +ok\n"));
}

TEST_F(SlowPageTest, TheSlowestCallsOfEachMinuteAreKept) {
  for (int i = 1; i <= 100; ++i) call_slow(std::chrono::milliseconds(i));
  const Json slowest = json()["slowest"];
  ASSERT_LE(slowest.size(), 2 * SlowCalls::slow_per_minute_max);  // A new minute may have begun.
  EXPECT_NEAR(slowest[0]["took_seconds"].get<double>(), 0.1, 0.002);
  EXPECT_NEAR(slowest[20]["took_seconds"].get<double>(), 0.08, 0.002);
  ASSERT_TRUE(coroutine::sleep_for(90s));
  call_slow(5ms);
  EXPECT_EQ(json("&minutes=1")["slowest"].size(), 1u);
  EXPECT_GT(json()["slowest"].size(), 1u);
  ASSERT_TRUE(coroutine::sleep_for(11min));
  EXPECT_TRUE(json()["slowest"].empty());
}

TEST_F(SlowPageTest, AnErrorIsShownWithItsObjectAndItsText) {
  test::AddRequest request = test::add_request(0, 50ms);
  request.set_then_fail(true);
  ASSERT_FALSE(CounterClient(node_.router(), "17").add(request));
  const Json page = json();
  ASSERT_EQ(page["errors"].size(), 1u);
  const Json& error = page["errors"][0];
  EXPECT_EQ(error["method"], "corolane.test.Counter/Add");
  EXPECT_EQ(error["object"], "17");
  EXPECT_EQ(error["caller"], "this node");
  EXPECT_EQ(error["code"], "failed_precondition");
  EXPECT_EQ(error["error"], "as was asked for");
  EXPECT_EQ(error["is_fault_of_server"], false);
  EXPECT_NEAR(error["took_seconds"].get<double>(), 0.05, 0.01);
}

TEST_F(SlowPageTest, ServerErrorsAreNotPushedOutByOthers) {
  ASSERT_FALSE(test::SlowClient(*client_).wait(test::wait_request(1h),
                                               {.deadline = Deadline::after(100ms)}));
  test::AddRequest request;
  request.set_then_fail(true);
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(CounterClient(node_.router(), "17").add(request));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  const Json errors = json()["errors"];
  ASSERT_EQ(errors.size(), 1 + SlowCalls::error_count_max);
  EXPECT_EQ(errors[0]["code"], "deadline_exceeded");
  EXPECT_EQ(errors[0]["method"], "corolane.test.Slow/Wait");
  EXPECT_EQ(errors[0]["is_fault_of_server"], true);
  EXPECT_THAT(page("/slow").body, ContainsRegex("\nLAST ERRORS .*\ncorolane.test.Slow/Wait .*"
                                                "deadline_exceeded: "));
}

TEST_F(SlowPageTest, AnObjectThatCallsIsTheCaller) {
  test::AddAlongRequest request;
  request.add_ids("b");
  auto busy = coroutine::spawn(
      "busy", [&] { return CounterClient(node_.router(), "b").add(test::add_request(0, 300ms)); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  ASSERT_TRUE(CounterClient(node_.router(), "a").add_along(request));
  ASSERT_TRUE(busy.join(Deadline::never()));
  const Json slowest = json()["slowest"];
  EXPECT_TRUE(std::ranges::any_of(slowest, [](const Json& call) {
    return call["object"] == "b" && call["caller"] == "corolane.test.Counter/AddAlong(\"a\")";
  })) << slowest.dump(2);
}

TEST_F(SlowPageTest, AnInvalidQueryIsRefused) {
  for (const char* query : {"?minutes=0", "?minutes=11", "?minutes=all"}) {
    const auto refused = page("/slow" + std::string(query));
    EXPECT_EQ(refused.status, 400U) << query;
    EXPECT_THAT(refused.body, HasSubstr("as in /slow?minutes=1")) << query;
  }
  EXPECT_EQ(page("/slow?format=xml").status, 400U);
}

}  // namespace
}  // namespace corolane::framework::detail
