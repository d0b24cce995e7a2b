// SPDX-License-Identifier: MIT
// A node reports its calls: as spans that reach a collector, as log lines, and as metrics.
#include "framework/telemetry/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/sync/mutex.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/node/node.h"
#include "framework/node/node_metrics.h"
#include "framework/telemetry/call_metrics.h"
#include "framework/telemetry/metric_text.h"
#include "net/testing/network.h"
#include "rpc/call_scope.h"
#include "rpc/observe/tracing.h"
#include "test/framework/counter.h"
#include "test/framework/slow_service.h"
#include "test/framework/telemetry/fake_collector.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::SlowClient;
using test::wait_request;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class TelemetryTest : public testing::Test {
 protected:
  std::unique_ptr<Node> serve(NodeConfig config) {
    config.log_level = LogLevel::info;
    auto node = std::make_unique<Node>(
        std::move(config), network_,
        Log(LogLevel::info, [this](std::string_view line) { lines_.emplace_back(line); }));
    node->serve(test::SlowService());
    const auto started = node->start();
    EXPECT_TRUE(started) << started;
    client_ = test::connect(network_, *node);
    return node;
  }
  static NodeConfig traced() {
    NodeConfig config = test::node_config("lobby");
    config.otlp.endpoint = "collector:4318";
    config.tracing.sample_ratio = 1;
    return config;
  }

  sim::SimulatedNetwork network_;
  test::FakeCollector collector_{network_, {"collector", 4318}};
  std::vector<std::string> lines_;
  std::unique_ptr<rpc::Client> client_;
};

TEST_F(TelemetryTest, SpansOfCallsReachTheCollector) {
  auto node = serve(traced());
  EXPECT_TRUE(SlowClient(*client_).wait(wait_request(3ms)));
  ASSERT_TRUE(collector_.wait_for(1));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  ASSERT_EQ(collector_.spans().size(), 1u);
  EXPECT_EQ(json::parse(collector_.spans()[0])["name"], "corolane.test.Slow/Wait");
  EXPECT_THAT(collector_.requests[0].body,
              HasSubstr(R"("key":"service.name","value":{"stringValue":"lobby"})"));
  EXPECT_THAT(metrics_text(*node).value(), HasSubstr("\ncorolane_node_spans_sent_total 1\n"));
}

TEST_F(TelemetryTest, SpansOfTheLastCallsAreSentBeforeTheNodeStops) {
  auto node = serve(traced());
  auto last = coroutine::spawn("last", [&] { return SlowClient(*client_).wait(wait_request(1s)); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_TRUE(node->stop(Deadline::after(5s)));
  EXPECT_TRUE(last.join(Deadline::never()));
  EXPECT_EQ(collector_.spans().size(), 1u);
}

TEST_F(TelemetryTest, SpansAreSentEvenWhenCallsUseUpTheTimeToStop) {
  auto node = serve(traced());
  auto last = coroutine::spawn("last", [&] { return SlowClient(*client_).wait(wait_request(9s)); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_FALSE(node->stop(Deadline::after(5s)));
  EXPECT_FALSE(last.join(Deadline::never()));
  EXPECT_EQ(collector_.spans().size(), 1u);
}

TEST_F(TelemetryTest, ASilentCollectorDoesNotKeepANodeFromStopping) {
  collector_.delay = 1h;
  auto node = serve(traced());
  EXPECT_TRUE(SlowClient(*client_).wait(wait_request(3ms)));
  const TimePoint start = now();
  EXPECT_TRUE(node->stop(Deadline::after(2s)));
  EXPECT_LT(now() - start, 3s);
}

TEST_F(TelemetryTest, ALostCollectorIsLoggedOnce) {
  network_.set_host("collector", {.refuses = true});
  auto node = serve(traced());
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(SlowClient(*client_).wait(wait_request(3ms)));
    ASSERT_TRUE(coroutine::sleep_for(30s));
  }
  EXPECT_THAT(lines_, Contains(HasSubstr("collector accepts no spans")).Times(1));
  network_.set_host("collector", {});
  EXPECT_TRUE(SlowClient(*client_).wait(wait_request(3ms)));
  ASSERT_TRUE(coroutine::sleep_for(2min));
  EXPECT_THAT(lines_,
              Contains(HasSubstr("collector accepts spans again collector=collector:4318")));
}

TEST_F(TelemetryTest, TracingIsOffByDefault) {
  auto node = serve(test::node_config("lobby"));
  auto caller = coroutine::spawn("caller", [&] {
    rpc::CallScope::enter(
        {.trace = {.trace_id = {std::byte{7}}, .span_id = 9, .is_sampled = true}});
    EXPECT_TRUE(SlowClient(*client_).wait(wait_request(3ms)));
  });
  EXPECT_TRUE(caller.join(Deadline::never()));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_TRUE(collector_.requests.empty());
  EXPECT_FALSE(node->tracer().span("nothing").is_recorded());
}

TEST_F(TelemetryTest, ACollectorThatIsNotAnAddressIsAConfigurationError) {
  NodeConfig config = test::node_config("lobby");
  config.otlp.endpoint = "ftp://collector/";
  Node node(config, network_);
  const auto started = node.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message(), HasSubstr("node.otlp: "));
}

TEST_F(TelemetryTest, SampledCallsAreTheExemplarsOfTheirLatency) {
  auto node = serve(traced());
  EXPECT_TRUE(SlowClient(*client_).wait(wait_request(3ms)));
  EXPECT_TRUE(SlowClient(*client_).wait(wait_request(4ms)));
  ASSERT_TRUE(collector_.wait_for(1));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const auto second = json::parse(collector_.spans().at(1));
  const auto metrics = collect_metrics(*node);
  ASSERT_TRUE(metrics);
  EXPECT_THAT(open_metrics_text(metrics->families()),
              HasSubstr("\ncorolane_rpc_call_seconds_bucket{method=\"corolane.test.Slow/Wait\","
                        "le=\"0.005\"} 2 # {trace_id=\"" +
                        second["traceId"].get<std::string>() + "\",span_id=\"" +
                        second["spanId"].get<std::string>() + "\"} 0.004 "));
  EXPECT_THAT(metrics->text(), Not(HasSubstr("trace_id")));
}

TEST_F(TelemetryTest, ACallThatWaitsForATurnHasASpanThatSaysForWhom) {
  NodeConfig config = traced();
  Node node(config, network_);
  node.host<test::Counter>();
  ASSERT_TRUE(node.start());
  const auto add = [&](std::chrono::milliseconds pause) {
    return coroutine::spawn("caller", [&node, pause] {
      const rpc::Span root = node.tracer().span("root");
      return test::CounterClient(node.router(), "a").add(test::add_request(1, pause)).has_value();
    });
  };
  auto first = add(30ms);
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  auto second = add(0ms);
  EXPECT_EQ(first.join(Deadline::never()), true);
  EXPECT_EQ(second.join(Deadline::never()), true);
  ASSERT_TRUE(node.stop(Deadline::after(1s)));
  std::vector<json> waits;
  for (const std::string& text : collector_.spans()) {
    const json span = json::parse(text);
    if (span["name"] == "wait for turn") waits.push_back(span);
    EXPECT_NE(span["name"], "wait for lock") << "a turn is a lock, too";
  }
  ASSERT_EQ(waits.size(), 1u) << "the first one had its turn at once";
  EXPECT_EQ(waits[0]["attributes"], json::parse(R"([
    {"key": "corolane.object.type", "value": {"stringValue": "corolane.test.Counter"}},
    {"key": "corolane.object.id", "value": {"stringValue": "a"}},
    {"key": "corolane.turn.holder", "value": {"stringValue": "corolane.test.Counter/Add"}},
    {"key": "corolane.turn.others_waiting", "value": {"intValue": "0"}}])"));
  const auto took = std::stoll(waits[0]["endTimeUnixNano"].get<std::string>()) -
                    std::stoll(waits[0]["startTimeUnixNano"].get<std::string>());
  EXPECT_EQ(took, 20'000'000);
}

TEST_F(TelemetryTest, ACallThatWaitsForALockHasASpanThatNamesIt) {
  auto node = serve(traced());
  coroutine::Mutex market("market");
  auto seller = coroutine::spawn("seller", [&] {
    const std::scoped_lock held(market);
    EXPECT_TRUE(coroutine::sleep_for(20ms));
  });
  auto buyer = coroutine::spawn("buyer", [&] {
    const rpc::Span root = node->tracer().span("root");
    const std::scoped_lock lock(market);
  });
  EXPECT_TRUE(seller.join(Deadline::never()));
  EXPECT_TRUE(buyer.join(Deadline::never()));
  ASSERT_TRUE(node->stop(Deadline::after(1s)));
  ASSERT_EQ(collector_.spans().size(), 2u);
  const json wait = json::parse(collector_.spans()[0]);
  EXPECT_EQ(wait["name"], "wait for lock");
  EXPECT_THAT(wait["attributes"].dump(), AllOf(HasSubstr(R"("market")"), HasSubstr(R"("seller")"),
                                               HasSubstr("telemetry_test.cc")));
}

TEST_F(TelemetryTest, MetricsReachTheCollectorInEachInterval) {
  NodeConfig config = test::node_config("lobby");
  config.otlp = {.endpoint = "collector:4318", .metrics = true, .metrics_interval = 5s};
  auto node = serve(config);
  ASSERT_TRUE(collector_.wait_for(2));
  EXPECT_EQ(collector_.times[1] - collector_.times[0], 5s);
  EXPECT_EQ(collector_.requests[0].path(), "/v1/metrics");
  EXPECT_THAT(collector_.requests[0].body,
              AllOf(HasSubstr(R"("name":"corolane_node_uptime_seconds")"),
                    HasSubstr(R"("name":"corolane_rpc_calls_total")"),
                    HasSubstr(R"("key":"service.name","value":{"stringValue":"lobby"})"),
                    HasSubstr(R"("key":"host.name")")));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_THAT(metrics_text(*node).value(), HasSubstr("\ncorolane_node_metrics_sent_total 2\n"));
  const std::size_t before = collector_.requests.size();
  EXPECT_TRUE(node->stop(Deadline::after(5s)));
  EXPECT_EQ(collector_.requests.size(), before + 1) << "the last values";
}

TEST_F(TelemetryTest, AnOutageOfTheCollectorLeavesAGapAndNoBacklogOfMetrics) {
  NodeConfig config = test::node_config("lobby");
  config.otlp = {.endpoint = "collector:4318", .metrics = true, .metrics_interval = 5s};
  network_.set_host("collector", {.refuses = true});
  auto node = serve(config);
  ASSERT_TRUE(coroutine::sleep_for(10min));
  network_.set_host("collector", {});
  ASSERT_TRUE(coroutine::sleep_for(30s));
  EXPECT_LE(collector_.requests.size(), 8u);
  EXPECT_GE(collector_.requests.size(), 3u);
  EXPECT_THAT(lines_, Contains(HasSubstr("collector accepts no metrics")).Times(1));
}

TEST_F(TelemetryTest, LinesOfTheLogReachTheCollector) {
  NodeConfig config = test::node_config("lobby");
  config.otlp = {.endpoint = "collector:4318", .logs = true};
  auto node = serve(config);
  EXPECT_TRUE(SlowClient(*client_).wait(wait_request(2s)));
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(node->stop(Deadline::after(5s)));
  std::string bodies;
  for (const auto& request : collector_.requests) {
    EXPECT_EQ(request.path(), "/v1/logs");
    bodies += request.body;
  }
  EXPECT_THAT(bodies, HasSubstr(R"("body":{"stringValue":"node serves"})"));
  EXPECT_THAT(bodies, HasSubstr(R"("body":{"stringValue":"call was slow"})"));
  EXPECT_THAT(bodies, HasSubstr(R"("body":{"stringValue":"node stopped"})"));
  EXPECT_THAT(bodies,
              HasSubstr(R"({"key":"method","value":{"stringValue":"corolane.test.Slow/Wait"}})"));
}

TEST_F(TelemetryTest, HeadersThatAreNoneKeepTheNodeFromStarting) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "headers";
  std::ofstream(path) << "6f1d\n";
  NodeConfig config = test::node_config("lobby");
  config.otlp = {.endpoint = "https://collector", .headers_file = path, .logs = true};
  Node node(config, network_);
  const auto started = node.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message(), HasSubstr("node.otlp.headers_file: line 1 is no header"));
}

TEST_F(TelemetryTest, SlowCallsAreLogged) {
  auto node = serve(test::node_config("lobby"));
  EXPECT_TRUE(SlowClient(*client_).wait(wait_request(3ms)));
  EXPECT_THAT(lines_, Not(Contains(HasSubstr("call was slow"))));
  EXPECT_TRUE(SlowClient(*client_).wait(wait_request(2s)));
  EXPECT_THAT(lines_,
              Contains(AllOf(HasSubstr("warning call was slow method=corolane.test.Slow/Wait"),
                             HasSubstr(" code=ok took=2s trace=none "), HasSubstr(" left_out=0"))));
}

TEST_F(TelemetryTest, MetricsCountErrorsByCodeAndTheQueueByPriority) {
  auto node = serve(test::node_config("lobby"));
  EXPECT_FALSE(SlowClient(*client_).wait(wait_request(1h), {.deadline = Deadline::after(100ms)}));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const std::string text = metrics_text(*node).value();
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_call_errors_total{code=\"deadline_exceeded\","
                              "fault=\"server\",method=\"corolane.test.Slow/Wait\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_queue_seconds_count{priority=\"in_session\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_calls_shed_total{priority=\"login\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("\ncorolane_rpc_sent_bytes_total 0\n")));
  EXPECT_THAT(text, Not(HasSubstr("\ncorolane_rpc_received_bytes_total 0\n")));
}

TEST_F(TelemetryTest, MetricsTellTheErrorsOfTheServerFromThoseOfItsCallers) {
  auto node = serve(test::node_config("lobby"));
  auto caller = coroutine::spawn(
      "caller", [&] { EXPECT_FALSE(SlowClient(*client_).wait(wait_request(1h))); });
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  caller.cancel();
  EXPECT_TRUE(caller.join(Deadline::never()));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  const std::string text = metrics_text(*node).value();
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_call_errors_total{code=\"cancelled\","
                              "fault=\"caller\",method=\"corolane.test.Slow/Wait\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_call_errors_total{code=\"internal\","
                              "fault=\"server\",method=\"corolane.test.Slow/Wait\"} 0\n"));
  for (const char* const fault : {"server", "caller"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\ncorolane_rpc_calls_refused_total{fault=\"") + fault +
                                "\",method=\"corolane.test.Slow/Wait\"} 0\n"));
  }
}

TEST_F(TelemetryTest, MetricsOfAClientCountTheOutcomesOfItsCalls) {
  auto node = serve(test::node_config("lobby"));
  EXPECT_TRUE(SlowClient(*client_).wait(wait_request(1ms)));
  EXPECT_FALSE(SlowClient(*client_).wait(wait_request(1h), {.deadline = Deadline::after(10ms)}));
  MetricWriter out;
  collect_client("lobby", client_->statistics(), out);
  const std::string text = out.text();
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_client_calls_total{peer=\"lobby\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_client_errors_total{code=\"deadline_exceeded\","
                              "peer=\"lobby\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncorolane_rpc_client_connections_total{peer=\"lobby\"} 1\n"));
}

}  // namespace
}  // namespace corolane::framework
