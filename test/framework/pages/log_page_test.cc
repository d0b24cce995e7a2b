// SPDX-License-Identifier: MIT
// The last lines of the log, and a level that is lent for a while.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "framework/node/node.h"
#include "net/testing/network.h"
#include "test/framework/pages/pages.h"
#include "test/framework/test_node.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class LogPageTest : public testing::Test {
 protected:
  LogPageTest() {
    const auto started = node_.start();
    EXPECT_TRUE(started) << started;
  }

  static NodeConfig config() {
    NodeConfig config = test::node_config("logs");
    config.log_level = LogLevel::info;
    return config;
  }
  net::HttpResponse fetch(const std::string& target, const std::string& method = "GET") {
    return test::fetch(network_, node_.endpoints().admin, target, method);
  }
  Json json() { return test::json_page(network_, node_.endpoints().admin, "/log?format=json"); }

  sim::SimulatedNetwork network_;
  std::vector<std::string> written_;
  test::PagedNode node_{config(), network_, Log(LogLevel::info, [this](std::string_view line) {
                          written_.emplace_back(line);
                        })};
};

TEST_F(LogPageTest, ShowsTheLastLinesAndTheLevel) {
  node_.log().debug("too small to be shown");
  node_.log().warning("the gate is open", {{"since", 3s}});
  const Json page = json();
  EXPECT_EQ(page["level"], "info");
  EXPECT_EQ(page["configured"], "info");
  EXPECT_EQ(page["lent_for_seconds"], nullptr);
  const Json& last = page["lines"].back();
  EXPECT_EQ(last["level"], "warning");
  EXPECT_EQ(last["text"], "the gate is open since=3s");
  const std::string text = fetch("/log").body;
  EXPECT_THAT(text, HasSubstr("level info, as configured; POST /log?level=debug&for=10m"));
  EXPECT_THAT(text, ContainsRegex("\n20[0-9T:.-]+Z warning the gate is open since=3s\n$"));
  EXPECT_THAT(text, Not(HasSubstr("too small")));
  EXPECT_EQ(fetch("/log?format=xml").status, 400U);
}

TEST_F(LogPageTest, KeepsTheLastLinesAndCutsLongOnes) {
  for (int i = 0; i < 250; ++i) node_.log().info("line", {{"number", i}});
  node_.log().info(std::string(5'000, 'x'));
  const Json lines = json()["lines"];
  ASSERT_EQ(lines.size(), Log::last_line_count_max);
  EXPECT_EQ(lines[0]["text"], "line number=51");
  EXPECT_EQ(lines[198]["text"], "line number=249");
  EXPECT_EQ(lines[199]["text"].get<std::string>().size(), Log::last_line_bytes_max);
}

TEST_F(LogPageTest, ALevelIsLentForTheRequestedTime) {
  const auto lent = fetch("/log?level=debug&for=20s", "POST");
  EXPECT_EQ(lent.status, 200U);
  EXPECT_EQ(lent.body, "level debug for 20.000s more, then info as configured\n");
  EXPECT_TRUE(node_.log().writes(LogLevel::debug));
  ASSERT_TRUE(coroutine::sleep_for(15s));
  EXPECT_NEAR(json()["lent_for_seconds"].get<double>(), 5.0, 0.1);
  EXPECT_TRUE(node_.log().writes(LogLevel::debug));
  ASSERT_TRUE(coroutine::sleep_for(6s));
  EXPECT_FALSE(node_.log().writes(LogLevel::debug));
  const Json page = json();
  EXPECT_EQ(page["level"], "info");
  EXPECT_EQ(page["lines"].back()["text"], "log level is as configured again level=info");
}

TEST_F(LogPageTest, WithoutATimeALoanLastsTenMinutes) {
  for (const char* time : {"", "&for=10m", "&for=10min"}) {
    EXPECT_EQ(fetch("/log?level=error" + std::string(time), "POST").body,
              "level error for 600.000s more, then info as configured\n");
  }
  ASSERT_TRUE(coroutine::sleep_for(9min));
  EXPECT_FALSE(node_.log().writes(LogLevel::info));
  ASSERT_TRUE(coroutine::sleep_for(2min));
  EXPECT_TRUE(node_.log().writes(LogLevel::info));
}

TEST_F(LogPageTest, ALoanReplacesTheOneBefore) {
  fetch("/log?level=debug&for=10s", "POST");
  fetch("/log?level=error&for=1h", "POST");
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_EQ(node_.log().level(), LogLevel::error);
  EXPECT_EQ(json()["configured"], "info");
  ASSERT_TRUE(coroutine::sleep_for(1h));
  EXPECT_EQ(node_.log().level(), LogLevel::info);
}

TEST_F(LogPageTest, TheConfiguredLevelEndsALoan) {
  fetch("/log?level=debug&for=1h", "POST");
  const auto ended = fetch("/log?level=info&format=json", "POST");
  EXPECT_EQ(Json::parse(ended.body)["lent_for_seconds"], nullptr);
  EXPECT_EQ(node_.log().level(), LogLevel::info);
}

TEST_F(LogPageTest, AReloadWithAnotherLevelEndsALoan) {
  fetch("/log?level=debug&for=10m", "POST");
  NodeConfig same = node_.config();
  same.stop_time_max = 7s;
  ASSERT_TRUE(node_.reload(same));
  EXPECT_EQ(node_.log().level(), LogLevel::debug);
  NodeConfig other = node_.config();
  other.log_level = LogLevel::warning;
  ASSERT_TRUE(node_.reload(other));
  EXPECT_EQ(node_.log().level(), LogLevel::warning);
  EXPECT_EQ(json()["lent_for_seconds"], nullptr);
  ASSERT_TRUE(coroutine::sleep_for(11min));
  EXPECT_EQ(node_.log().level(), LogLevel::warning);
}

TEST_F(LogPageTest, AnInvalidLoanIsRefusedWithAnExample) {
  for (const char* query : {"", "?level=loud", "?level=debug&for=0s", "?level=debug&for=25h",
                            "?level=debug&for=long"}) {
    const auto refused = fetch("/log" + std::string(query), "POST");
    EXPECT_EQ(refused.status, 400U) << query;
    EXPECT_THAT(refused.body, HasSubstr("POST /log?level=debug&for=10m")) << query;
  }
  EXPECT_EQ(node_.log().level(), LogLevel::info);
}

TEST_F(LogPageTest, AnUnconditionalLineIsWrittenAtAnyLevel) {
  node_.log().set_level(LogLevel::error);
  node_.log().always("read me");
  ASSERT_FALSE(written_.empty());
  EXPECT_THAT(written_.back(), HasSubstr(" info    read me"));
}

}  // namespace
}  // namespace corolane::framework::detail
