// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_logs.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "coroutine/task.h"
#include "rpc/call_scope.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class OtlpLogsTest : public testing::Test {
 protected:
  OtlpLogsTest() {
    log_.set_tap([this](const LogEvent& event) { queue_.take(event); });
  }
  json only_line() {
    const auto lines = queue_.drain();
    EXPECT_EQ(lines.size(), 1u);
    return lines.empty() ? json() : json::parse(lines.front());
  }

  OtlpLogQueue queue_;
  Log log_{LogLevel::info, [](std::string_view) {}};
};

TEST_F(OtlpLogsTest, ALineHasSeverityBodyAndTypedAttributes) {
  log_.warning("call was \"slow\"", {{"method", "A/B"},
                                     {"took", 2500ms},
                                     {"left_out", std::uint64_t{7}},
                                     {"huge", std::numeric_limits<std::uint64_t>::max()},
                                     {"change", -3},
                                     {"share", 0.5}});
  json line = only_line();
  EXPECT_GT(std::stoll(line["timeUnixNano"].get<std::string>()), 0);
  EXPECT_EQ(line["observedTimeUnixNano"], line["timeUnixNano"]);
  line.erase("timeUnixNano");
  line.erase("observedTimeUnixNano");
  EXPECT_EQ(line, json::parse(R"({
    "severityNumber": 13, "severityText": "WARN", "body": {"stringValue": "call was \"slow\""},
    "attributes": [
      {"key": "method", "value": {"stringValue": "A/B"}},
      {"key": "took", "value": {"doubleValue": 2.5}},
      {"key": "left_out", "value": {"intValue": "7"}},
      {"key": "huge", "value": {"stringValue": "18446744073709551615"}},
      {"key": "change", "value": {"intValue": "-3"}},
      {"key": "share", "value": {"doubleValue": 0.5}}]})"));
}

TEST_F(OtlpLogsTest, ALineOfACallHasItsTrace) {
  auto call = coroutine::spawn("call", [&] {
    rpc::CallScope::enter({.trace = *rpc::parse_traceparent(
                               "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")});
    log_.error("lost");
  });
  EXPECT_TRUE(call.join(Deadline::never()));
  const json line = only_line();
  EXPECT_EQ(line["severityNumber"], 17);
  EXPECT_EQ(line["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(line["spanId"], "00f067aa0ba902b7");
  EXPECT_EQ(line["flags"], 1);
}

TEST_F(OtlpLogsTest, LinesOfOtherThreadsAndLevelsComeAsTheyAreWritten) {
  std::thread([&] {
    log_.info("from another thread");
    log_.debug("not written");
  }).join();
  EXPECT_EQ(only_line()["body"]["stringValue"], "from another thread");
  log_.set_tap(nullptr);
  log_.info("after the end");
  EXPECT_TRUE(queue_.drain().empty());
}

TEST_F(OtlpLogsTest, AFullQueueDropsAndCounts) {
  for (std::size_t i = 0; i < OtlpLogQueue::line_count_max + 5; ++i) log_.info("line");
  EXPECT_EQ(queue_.take_dropped_count(), 5u);
  EXPECT_EQ(queue_.take_dropped_count(), 0u);
  EXPECT_EQ(queue_.drain().size(), OtlpLogQueue::line_count_max);
  log_.info("room again");
  EXPECT_EQ(queue_.drain().size(), 1u);
}

TEST(OtlpLogRequestTest, ARequestHasTheResourceAndItsLines) {
  const std::vector<std::string> lines = {R"({"a":1})", R"({"a":2})"};
  EXPECT_EQ(json::parse(otlp_logs({.service_name = "node-1"}, lines)), json::parse(R"({
    "resourceLogs": [{
      "resource": {"attributes": [
        {"key": "service.name", "value": {"stringValue": "node-1"}}]},
      "scopeLogs": [{"scope": {"name": "corolane"}, "logRecords": [{"a": 1}, {"a": 2}]}]}]})"));
}

}  // namespace
}  // namespace corolane::framework
