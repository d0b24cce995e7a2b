// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/programs.h"
#include "coroutine/virtual_time.h"
#include "framework/telemetry/otlp_json.h"
#include "net/testing/network.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/telemetry/fake_collector.h"
#include "tools/processes/child_process.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::FakeCollector;

rpc::SpanRecord make_span(std::string name = "chess.Chess/Move") {
  rpc::SpanRecord span;
  span.context = *rpc::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  span.parent_span_id = 0xabc;
  span.kind = rpc::SpanKind::server;
  span.name = std::move(name);
  span.start = now();
  span.end = span.start + 3ms;
  return span;
}

class OtlpExporterTest : public testing::Test {
 protected:
  // A test begins at 2026-01-01T00:00:00Z.
  static constexpr std::chrono::nanoseconds unix_start = 1'767'225'600s;

  void export_with(OtlpExporter::Options options = {}) {
    options.body = [](std::span<const std::string> spans) {
      return otlp_traces(
          {.service_name = "chess", .service_version = "1.2.3", .service_instance_id = "chess-1"},
          spans);
    };
    options.on_partial = [this](std::uint64_t count, const std::string& message) {
      partial_.push_back(std::to_string(count) + " " + message);
    };
    options.on_change = [this](const Result<void>& outcome) {
      changes_.push_back(outcome ? "ok" : outcome.error().message());
    };
    exporter_ = std::make_unique<OtlpExporter>(transport_, options);
  }
  void take(const rpc::SpanRecord& span) {
    exporter_->take([&] { return otlp_span(span, unix_start - test_start_.time_since_epoch()); });
  }
  void take(int count) {
    for (int i = 0; i < count; ++i) take(make_span());
  }
  void pass(Duration time) { check(coroutine::sleep_for(time).has_value(), "time passes"); }

  sim::SimulatedNetwork network_;
  FakeCollector collector_{network_, {"collector", 4318}};
  const TimePoint test_start_ = now();
  OtlpTransport transport_{network_, {.endpoint = {.host = {"collector", 4318}}}};
  std::vector<std::string> changes_;
  std::vector<std::string> partial_;
  std::unique_ptr<OtlpExporter> exporter_;
};

TEST_F(OtlpExporterTest, SpanArrivesAsTheSpecificationSays) {
  export_with();
  auto span = make_span();
  span.attributes = {{"rpc.system", "corolane"},
                     {"server.port", std::int64_t{8460}},
                     {"cached", true},
                     {"share", 0.25}};
  span.events = {
      {.name = "loaded", .time = now() + 1ms, .attributes = {{"bytes", std::int64_t{9}}}}};
  span.dropped_attribute_count = 2;
  span.has_failed = true;
  span.failure = "no \"room\"\n";
  take(span);
  exporter_->stop(Deadline::after(1s));

  ASSERT_EQ(collector_.requests.size(), 1u);
  EXPECT_EQ(collector_.requests[0].method, "POST");
  EXPECT_EQ(collector_.requests[0].path(), "/v1/traces");
  EXPECT_EQ(collector_.requests[0].header("content-type"), "application/json");
  const json expected = json::parse(R"({"resourceSpans": [{
    "resource": {"attributes": [
      {"key": "service.name", "value": {"stringValue": "chess"}},
      {"key": "service.version", "value": {"stringValue": "1.2.3"}},
      {"key": "service.instance.id", "value": {"stringValue": "chess-1"}}]},
    "scopeSpans": [{"scope": {"name": "corolane"}, "spans": [{
      "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
      "spanId": "00f067aa0ba902b7",
      "parentSpanId": "0000000000000abc",
      "name": "chess.Chess/Move",
      "kind": 2,
      "startTimeUnixNano": "1767225600000000000",
      "endTimeUnixNano": "1767225600003000000",
      "attributes": [
        {"key": "rpc.system", "value": {"stringValue": "corolane"}},
        {"key": "server.port", "value": {"intValue": "8460"}},
        {"key": "cached", "value": {"boolValue": true}},
        {"key": "share", "value": {"doubleValue": 0.25}}],
      "droppedAttributesCount": 2,
      "events": [{"timeUnixNano": "1767225600001000000", "name": "loaded",
                  "attributes": [{"key": "bytes", "value": {"intValue": "9"}}]}],
      "status": {"code": 2, "message": "no \"room\"\n"}}]}]}]})");
  EXPECT_EQ(json::parse(collector_.requests[0].body), expected);
}

TEST_F(OtlpExporterTest, RootHasNoParentAndSuccessNoStatus) {
  export_with();
  auto span = make_span();
  span.parent_span_id = 0;
  take(span);
  exporter_->stop(Deadline::after(1s));
  ASSERT_EQ(collector_.spans().size(), 1u);
  EXPECT_FALSE(json::parse(collector_.spans()[0]).contains("parentSpanId"));
  EXPECT_FALSE(json::parse(collector_.spans()[0]).contains("status"));
}

TEST_F(OtlpExporterTest, TheBodyIsJsonForAnyText) {
  export_with();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  auto span = make_span(all + "\xe2\x82\xac\xe2\x82");
  span.attributes = {{all, all}, {"nan", std::nan("")}, {"inf", -INFINITY}};
  take(span);
  exporter_->stop(Deadline::after(1s));
  ASSERT_EQ(collector_.spans().size(), 1u);
  const auto name = json::parse(collector_.spans()[0])["name"].get<std::string>();
  EXPECT_EQ(name.substr(0, 128), all.substr(0, 128));
  EXPECT_THAT(name, testing::EndsWith("\xef\xbf\xbd\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd"));
  EXPECT_EQ(json::parse(collector_.spans()[0])["attributes"][1]["value"]["doubleValue"], "NaN");
  EXPECT_EQ(json::parse(collector_.spans()[0])["attributes"][2]["value"]["doubleValue"],
            "-Infinity");
}

TEST_F(OtlpExporterTest, SendsQueuedSpansAfterAnInterval) {
  export_with({.interval = 2s});
  const TimePoint start = now();
  take(1);
  pass(1s);
  take(2);
  EXPECT_TRUE(collector_.wait_for(1));
  EXPECT_EQ(now() - start, 2s + 3ms);  // Name, connection and request.
  EXPECT_EQ(collector_.spans().size(), 3u);
  pass(10s);
  EXPECT_EQ(collector_.requests.size(), 1u);
  EXPECT_EQ(exporter_->statistics().sent_count, 3u);
}

TEST_F(OtlpExporterTest, SendsAFullBatchAtOnceAndNoLargerOne) {
  export_with({.batch_count_max = 10, .interval = 1h});
  take(25);
  pass(1s);
  ASSERT_EQ(collector_.requests.size(), 2u);
  EXPECT_EQ(collector_.spans().size(), 20u);
  EXPECT_EQ(exporter_->statistics().queued_count, 5u);
  pass(1h);
  EXPECT_EQ(collector_.spans().size(), 25u);
}

TEST_F(OtlpExporterTest, ASlowCollectorBlocksNoCallerAndOverflowIsCounted) {
  collector_.delay = 5s;
  export_with({.queue_count_max = 30, .batch_count_max = 10, .interval = 1s});
  const TimePoint start = now();
  take(100);
  EXPECT_EQ(now(), start);
  EXPECT_EQ(exporter_->statistics().overflow_count, 70u);
  exporter_->stop(Deadline::after(1min));
  EXPECT_EQ(exporter_->statistics().sent_count, 30u);
  EXPECT_EQ(collector_.spans().size(), 30u);
}

TEST_F(OtlpExporterTest, BytesOfTheQueueAreBounded) {
  export_with({.queue_bytes_max = 1000});
  take(10);
  const auto statistics = exporter_->statistics();
  EXPECT_LT(statistics.queued_bytes, 1500u);
  EXPECT_GE(statistics.overflow_count, 5u);
  EXPECT_EQ(statistics.overflow_count + statistics.queued_count, 10u);
}

TEST_F(OtlpExporterTest, RetriesAfterTransientFailures) {
  collector_.answers = {{.status = 503}, {.status = 502}, {.status = 504}, {.status = 429}};
  export_with({.interval = 1s, .retry_delay_min = 1s});
  take(1);
  ASSERT_TRUE(collector_.wait_for(5));
  pass(10ms);
  // Half to all of 1, 2, 4 and 8 seconds.
  EXPECT_GE(collector_.times[4] - collector_.times[0], 7500ms);
  EXPECT_LE(collector_.times[4] - collector_.times[0], 15s + 20ms);
  const auto statistics = exporter_->statistics();
  EXPECT_EQ(statistics.retry_count, 4u);
  EXPECT_EQ(statistics.sent_count, 1u);
  EXPECT_EQ(changes_, (std::vector<std::string>{"the collector answers with status 503", "ok"}));
}

TEST_F(OtlpExporterTest, TheCollectorSetsTheRetryDelay) {
  collector_.answers = {{.status = 429, .headers = {{"Retry-After", "17"}}},
                        {.status = 503, .headers = {{"retry-after", "soon"}}}};
  export_with({.interval = 1s});
  take(1);
  ASSERT_TRUE(collector_.wait_for(3));
  EXPECT_GE(collector_.times[1] - collector_.times[0], 17s);
  EXPECT_LE(collector_.times[1] - collector_.times[0], 17s + 10ms);
  EXPECT_LE(collector_.times[2] - collector_.times[1], 1s + 10ms);
  pass(10ms);
}

TEST_F(OtlpExporterTest, RejectedSpansAreNotSentAgain) {
  collector_.answers = {{.status = 400}, {.body = R"({"partialSuccess":{"rejectedSpans":"2"}})"}};
  export_with({.batch_count_max = 5, .interval = 1s});
  take(10);
  ASSERT_TRUE(collector_.wait_for(2));
  pass(1min);
  EXPECT_EQ(collector_.requests.size(), 2u);
  EXPECT_EQ(exporter_->statistics().refused_count, 7u);
  EXPECT_EQ(exporter_->statistics().sent_count, 3u);
}

TEST_F(OtlpExporterTest, RejectedSpansAreToldOnceAMinute) {
  const net::HttpResponse partial = {
      .content_type = "application/json",
      .body = R"({"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}})"};
  collector_.answers = {partial, partial, partial, partial};
  export_with({.batch_count_max = 2, .interval = 1s});
  for (int i = 0; i < 3; ++i) {
    take(2);
    pass(10s);
  }
  EXPECT_EQ(partial_, std::vector<std::string>{"1 too old"});
  pass(1min);
  take(2);
  pass(10s);
  EXPECT_EQ(partial_, (std::vector<std::string>{"1 too old", "3 too old"}));
}

TEST_F(OtlpExporterTest, AFullQueueConvertsNothing) {
  export_with({.queue_count_max = 3});
  int converted_count = 0;
  for (int i = 0; i < 5; ++i) {
    exporter_->take([&] {
      ++converted_count;
      return std::string("{}");
    });
  }
  EXPECT_EQ(converted_count, 3);
}

TEST_F(OtlpExporterTest, GivesABatchUpWhenTheCollectorIsUnreachableForTooLong) {
  network_.set_host("collector", {.refuses = true});
  export_with({.interval = 1s, .batch_time_max = 20s});
  take(3);
  pass(1min);
  EXPECT_EQ(exporter_->statistics().unreachable_count, 3u);
  EXPECT_EQ(changes_.size(), 1u);
  network_.set_host("collector", {});
  take(2);
  pass(5s);
  EXPECT_EQ(exporter_->statistics().sent_count, 2u);
  EXPECT_EQ(changes_.back(), "ok");
}

TEST_F(OtlpExporterTest, StopEndsAtItsDeadlineDespiteASilentCollector) {
  collector_.delay = 1h;
  export_with();
  take(3);
  const TimePoint start = now();
  exporter_->stop(Deadline::after(300ms));
  EXPECT_EQ(now() - start, 300ms);
  EXPECT_EQ(exporter_->statistics().unreachable_count, 3u);
  EXPECT_EQ(exporter_->statistics().queued_count, 0u);
  EXPECT_TRUE(changes_.empty());
  take(make_span());
  EXPECT_EQ(exporter_->statistics().overflow_count, 1u);
}

TEST_F(OtlpExporterTest, StopDoesNotWaitForRetries) {
  collector_.answers = {{.status = 503}, {.status = 503}, {.status = 503}};
  export_with({.interval = 1s, .retry_delay_min = 10s});
  take(1);
  ASSERT_TRUE(collector_.wait_for(1));
  pass(10ms);
  const TimePoint start = now();
  exporter_->stop(Deadline::after(1min));
  EXPECT_LT(now() - start, 10ms);
  EXPECT_EQ(collector_.requests.size(), 2u);  // The last attempt.
}

TEST_F(OtlpExporterTest, DestructionDropsQueuedSpans) {
  collector_.delay = 1h;
  export_with({.interval = 1s});
  take(3);
  pass(2s);
  ASSERT_EQ(collector_.requests.size(), 1u) << "the first batch is on its way";
  take(2);
  const TimePoint start = now();
  exporter_.reset();
  EXPECT_EQ(now(), start) << "it waits for no answer";
  pass(3h);
  EXPECT_EQ(collector_.requests.size(), 1u);
}

// Serves one request and prints its content, with Python's own HTTP and JSON.
constexpr const char* python_collector = R"(
import http.server, json

class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8"))
        resource = body["resourceSpans"][0]
        names = {a["key"]: a["value"]["stringValue"] for a in resource["resource"]["attributes"]}
        spans = resource["scopeSpans"][0]["spans"]
        int(spans[0]["traceId"], 16), int(spans[0]["startTimeUnixNano"])
        print(self.path, len(spans), "spans of", names["service.name"], flush=True)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *arguments):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
print(server.server_port, flush=True)
server.handle_request()
)";

TEST(OtlpExporterStackTest, AFullQueueIsSentOnceThereIsAStackAgain) {
  std::thread([] {
    coroutine::VirtualTime time;
    coroutine::Scheduler scheduler(time, {.stacks = {.stack_count_max = 20}});
    const auto ran = scheduler.run("main", [] {
      sim::SimulatedNetwork network;
      FakeCollector collector(network, {"collector", 4318});
      OtlpTransport transport(network, {.endpoint = {.host = {"collector", 4318}}});
      OtlpExporter exporter(
          transport, {.body = [](std::span<const std::string> items) { return items.front(); },
                      .queue_count_max = 1,
                      .batch_count_max = 1});
      {
        coroutine::TaskGroup crowd;
        const coroutine::TaskOptions control = {.purpose = coroutine::StackPool::Purpose::control};
        while (crowd.spawn("crowd", [] { return coroutine::sleep_for(1h); }, control)) {
        }
        exporter.take([] { return "first"; });
        crowd.cancel_and_join();
      }
      EXPECT_EQ(exporter.statistics().queued_count, 1U);
      exporter.take([] { return "lost, since the queue is full"; });
      EXPECT_TRUE(collector.wait_for(1));
      EXPECT_TRUE(coroutine::sleep_for(1s));
      EXPECT_EQ(exporter.statistics().sent_count, 1U);
      EXPECT_EQ(exporter.statistics().queued_count, 0U);
    });
    EXPECT_TRUE(ran) << ran;
  }).join();
}

TEST(OtlpExporterRealTest, PythonReadsTheSentSpans) {
  COROLANE_NEEDS(test::missing_program("python3"));
  test::run_on_real_loop([](test::RealLoop& real) {
    test::ChildProcess collector("/usr/bin/env", {"python3", "-c", python_collector});
    const std::string port = collector.read_line();
    ASSERT_FALSE(port.empty()) << collector.error_output();
    OtlpTransport transport(
        real.network,
        {.endpoint = {.host = {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(port))}}});
    OtlpExporter exporter(transport, {.body = [](std::span<const std::string> spans) {
                            return otlp_traces({.service_name = "chess"}, spans);
                          }});
    for (const char* name : {"a \"name\" \x01 \xff", "another"}) {
      exporter.take([&] { return otlp_span(make_span(name), 0ns); });
    }
    exporter.stop(test::soon());
    EXPECT_EQ(exporter.statistics().sent_count, 2u);
    EXPECT_EQ(collector.read_line(), "/v1/traces 2 spans of chess");
  });
}

}  // namespace
}  // namespace corolane::framework
