// SPDX-License-Identifier: MIT
// The history of a node as its page shows it, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "coroutine/task.h"
#include "framework/node/node.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/pages/pages.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using Json = nlohmann::json;

class HistoryPageTest : public testing::Test {
 protected:
  HistoryPageTest() {
    node_.serve(test::SlowService());
    node_.host<test::Counter>();
    const auto started = node_.start();
    EXPECT_TRUE(started) << started;
  }

  net::HttpResponse page(const std::string& target) {
    return test::fetch(network_, node_.endpoints().admin, target);
  }
  // The samples of one series.
  Json samples(const std::string& series, const std::string& more = "") {
    const Json found = test::json_page(network_, node_.endpoints().admin,
                                       "/history?format=json&series=" + series + more);
    EXPECT_EQ(found["series"].size(), 1U) << series;
    return found["series"].empty() ? Json() : found["series"][0]["samples"];
  }
  double last(const std::string& series) {
    const Json all = samples(series);
    return all.empty() || all.back().is_null() ? -1 : all.back().get<double>();
  }
  void begin() {
    node_.keep_history();
    ASSERT_TRUE(coroutine::sleep_for(3s));
  }

  sim::SimulatedNetwork network_;
  test::PagedNode node_{test::node_config("history"), network_};
};

TEST_F(HistoryPageTest, ANodeThatKeepsNoneSaysSo) {
  EXPECT_EQ(page("/history").status, 404);
  EXPECT_THAT(page("/history").body, HasSubstr("keeps no history"));
}

TEST_F(HistoryPageTest, CallsAreRatesAndTheirTimesQuantiles) {
  begin();
  const auto client = test::connect(network_, node_);
  ASSERT_TRUE(client);
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(test::SlowClient(*client).wait(test::wait_request(50ms)));
  }
  ASSERT_TRUE(coroutine::sleep_for(2s));
  double calls = 0;
  for (const Json& sample : samples("calls")) calls += sample.is_null() ? 0 : sample.get<double>();
  EXPECT_NEAR(calls, 40, 1);
  double slowest = 0;
  for (const Json& sample : samples("call_time/p99")) {
    if (!sample.is_null()) slowest = std::max(slowest, sample.get<double>());
  }
  EXPECT_NEAR(slowest, 0.05, 0.005);
  EXPECT_EQ(last("connections"), 1);
  EXPECT_EQ(last("errors"), 0);
}

TEST_F(HistoryPageTest, FaultsOfTheServerAndRefusalsAreApart) {
  begin();
  const auto client = test::connect(network_, node_);
  ASSERT_TRUE(client);
  const auto late =
      test::SlowClient(*client).wait(test::wait_request(1h), {.deadline = Deadline::after(100ms)});
  EXPECT_FALSE(late);
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const auto sum_of = [this](const std::string& series) {
    double sum = 0;
    for (const Json& sample : samples(series)) sum += sample.is_null() ? 0 : sample.get<double>();
    return sum;
  };
  EXPECT_NEAR(sum_of("errors"), 1, 0.1);
  EXPECT_EQ(sum_of("refusals"), 0);
}

TEST_F(HistoryPageTest, ObjectsAndTheirWritesAreCounted) {
  begin();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(test::CounterClient(node_.router(), "c" + std::to_string(i)).add({}));
  }
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(last("objects/corolane.test.Counter"), 5);
  EXPECT_EQ(last("state"), 0);
  EXPECT_EQ(last("members"), 1);
}

TEST_F(HistoryPageTest, SeriesAreSelectedByNameOrByThePartBeforeTheSlash) {
  begin();
  const Json found = test::json_page(network_, node_.endpoints().admin,
                                     "/history?format=json&series=cpu,calls&seconds=2");
  EXPECT_EQ(found["count"], 2);
  EXPECT_EQ(found["step"], 1);
  ASSERT_EQ(found["series"].size(), 3U);
  EXPECT_EQ(found["series"][0]["name"], "cpu/control");
  EXPECT_EQ(found["series"][1]["name"], "cpu/0");
  EXPECT_EQ(found["series"][1]["unit"], "cores");
  EXPECT_EQ(found["series"][2]["name"], "calls");
  EXPECT_EQ(found["series"][2]["samples"].size(), 2U);
}

TEST_F(HistoryPageTest, ASeriesThatIsAskedForTwiceIsShownOnce) {
  begin();
  const Json found = test::json_page(network_, node_.endpoints().admin,
                                     "/history?format=json&series=calls,cpu,cpu/0,calls");
  ASSERT_EQ(found["series"].size(), 3U);
  EXPECT_EQ(found["series"][0]["name"], "calls");
  EXPECT_EQ(found["series"][2]["name"], "cpu/0");
}

TEST_F(HistoryPageTest, WhatIsWrongWithAQueryIsSaid) {
  begin();
  EXPECT_EQ(page("/history?series=cals").status, 400);
  EXPECT_THAT(page("/history?series=cals").body,
              AllOf(HasSubstr("\"cals\" is unknown"), HasSubstr("calls"),
                    HasSubstr("as in ?series=calls,objects")));
  EXPECT_EQ(page("/history?seconds=172801").status, 400);
  EXPECT_EQ(page("/history?seconds=0").status, 400);
  EXPECT_EQ(page("/history?format=xml").status, 400);
}

TEST_F(HistoryPageTest, ALongTimeHasAMinuteForEachSample) {
  node_.keep_history();
  ASSERT_TRUE(coroutine::sleep_for(30min));
  EXPECT_EQ(samples("calls", "&seconds=600").size(), 600U);
  EXPECT_EQ(samples("calls", "&seconds=601").size(), 11U);
  EXPECT_EQ(samples("calls", "&seconds=172800").size(), 30U);
}

TEST_F(HistoryPageTest, TextHasALineForEachSeries) {
  begin();
  EXPECT_THAT(page("/history").body, AllOf(ContainsRegex("SERIES +UNIT +LAST +LEAST +MEAN +MOST"),
                                           ContainsRegex("\nstate +- +0 +0 +0 +0\n")));
}

}  // namespace
}  // namespace corolane::framework
