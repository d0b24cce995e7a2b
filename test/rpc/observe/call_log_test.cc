// SPDX-License-Identifier: MIT
// The calls that are logged for an operator.
#include "rpc/observe/call_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rpc/observe/tracing.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::CallLog;
using Reason = rpc::LoggedCall::Reason;

class CallLogTest : public testing::Test {
 protected:
  struct Line {
    Reason reason;
    std::string method;
    std::string peer;
    std::optional<Code> code;
    std::string error;
    Duration duration;
    rpc::TraceContext trace;
    std::uint64_t left_out_count;
  };

  void serve(const CallLog::Options& options) {
    log_ = std::make_unique<CallLog>(options, [this](const rpc::LoggedCall& call) {
      lines_.push_back({.reason = call.reason,
                        .method = std::string(call.method),
                        .peer = std::string(call.peer),
                        .code = call.code,
                        .error = std::string(call.error),
                        .duration = call.duration,
                        .trace = call.trace,
                        .left_out_count = call.left_out_count});
    });
    server_.add_observer(log_->server_observer());
    check(server_.add(service_).has_value() &&
              server_.listen({"server", 1}, {.door = rpc::Door::nodes}).has_value(),
          "serves");
    auto client = rpc::Client::connect(network_, {"server", 1}, Deadline::after(1s));
    check(client.has_value(), "the client connects");
    client_ = std::move(*client);
  }
  EchoClient echo() { return EchoClient(*client_); }

  sim::SimulatedNetwork network_;
  EchoService service_;
  std::vector<Line> lines_;
  std::unique_ptr<CallLog> log_;
  rpc::Server server_{network_};
  std::unique_ptr<rpc::Client> client_;
};

TEST_F(CallLogTest, FaultsOfTheServerAreLoggedWithAllDetails) {
  serve({});
  EXPECT_FALSE(echo().fail(make_fail(13, "a bug")));
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].reason, Reason::failed);
  EXPECT_EQ(lines_[0].method, "corolane.test.Echo/Fail");
  EXPECT_TRUE(lines_[0].peer.starts_with("client:"));
  EXPECT_EQ(lines_[0].code, Code::internal);
  EXPECT_EQ(lines_[0].error, "a bug");
  EXPECT_FALSE(lines_[0].trace.is_valid());
}

TEST_F(CallLogTest, SuccessesAndErrorsOfTheCallerAreNotLogged) {
  serve({});
  EXPECT_TRUE(echo().echo(make_echo("")));
  EXPECT_FALSE(echo().fail(make_fail(5)));
  EXPECT_TRUE(lines_.empty());
}

TEST_F(CallLogTest, AServerThatIsFullIsLoggedAndALobbyThatIsFullIsNot) {
  serve({});
  service_.echo_errors.emplace_back(Code::resource_exhausted, "the lobby is full");
  EXPECT_FALSE(echo().echo(make_echo("")));
  EXPECT_TRUE(lines_.empty());
  service_.echo_errors.push_back(
      Error(Code::resource_exhausted, "the store is full").with_origin(Origin::runtime));
  EXPECT_FALSE(echo().echo(make_echo("")));
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].error, "the store is full");
}

TEST_F(CallLogTest, AllErrorsAreLoggedOnRequest) {
  serve({.errors = CallLog::Errors::all});
  EXPECT_FALSE(echo().fail(make_fail(5)));
  EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(CallLogTest, NoErrorsAreLoggedOnRequest) {
  serve({.errors = CallLog::Errors::none});
  EXPECT_FALSE(echo().fail(make_fail(13)));
  EXPECT_TRUE(lines_.empty());
}

TEST_F(CallLogTest, APassedDeadlineIsLoggedAsDeadlineExceeded) {
  serve({});
  EXPECT_FALSE(echo().sleep(make_sleep(1h), {.deadline = Deadline::after(100ms)}));
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].code, Code::deadline_exceeded);
}

TEST_F(CallLogTest, SlowCallsAreLoggedWithTheirDuration) {
  serve({.slow_after = 500ms});
  EXPECT_TRUE(echo().sleep(make_sleep(500ms)));
  EXPECT_TRUE(lines_.empty());
  EXPECT_TRUE(echo().sleep(make_sleep(501ms)));
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].reason, Reason::slow);
  EXPECT_EQ(lines_[0].code, std::nullopt);
  EXPECT_EQ(lines_[0].duration, 501ms);
}

TEST_F(CallLogTest, StreamsAreNotSlow) {
  serve({.slow_after = 500ms});
  CountRequest request;
  request.set_count(3);
  request.set_milliseconds(300);
  auto stream = echo().count(request);
  for (CountReply reply; stream.read(reply);) {
  }
  EXPECT_TRUE(stream.finish());
  EXPECT_TRUE(lines_.empty());
}

TEST_F(CallLogTest, OtherCallsAreSampled) {
  serve({.one_in = 10});
  for (int i = 0; i < 35; ++i) EXPECT_TRUE(echo().echo(make_echo("")));
  EXPECT_EQ(lines_.size(), 3u);
  EXPECT_EQ(lines_[0].reason, Reason::sampled);
}

TEST_F(CallLogTest, AboveTheRateLinesAreDroppedAndTheNextOneSaysHowMany) {
  serve({.lines_per_second_max = 5});
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(echo().fail(make_fail(13)));
  EXPECT_EQ(lines_.size(), 5u);
  EXPECT_EQ(log_->left_out_count(), 15u);
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(echo().fail(make_fail(13)));
  EXPECT_FALSE(echo().fail(make_fail(13)));
  ASSERT_EQ(lines_.size(), 7u);
  EXPECT_EQ(lines_[5].left_out_count, 15u);
  EXPECT_EQ(lines_[6].left_out_count, 0u);
}

TEST_F(CallLogTest, NamesTheTraceWithTheSpanOfTheHandler) {
  std::vector<rpc::SpanRecord> spans;
  rpc::Tracer tracer({.sample_ratio = 1},
                     [&](const rpc::SpanRecord& span) { spans.push_back(span); });
  server_.add_filter(tracer.server_filter());
  serve({});
  EXPECT_FALSE(echo().fail(make_fail(13)));
  ASSERT_EQ(lines_.size(), 1u);
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(lines_[0].trace, spans[0].context);
}

}  // namespace
}  // namespace corolane::test
