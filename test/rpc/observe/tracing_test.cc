// SPDX-License-Identifier: MIT
// Spans of calls, and their parents.
#include "rpc/observe/tracing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "rpc/call_scope.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::SpanKind;
using rpc::SpanRecord;
using rpc::Tracer;

// Calls the next service, within spans of its own.
class Relay : public EchoService {
 public:
  Relay(Tracer& tracer, rpc::Client& next) : tracer_(tracer), next_(next) {}

  Result<EchoReply> echo(const EchoRequest& request, rpc::Context&) override {
    const rpc::Span span = tracer_.span("inside");
    return next_.echo(request);
  }
  // Calls once from a child task, and once itself.
  Result<TimeLeftReply> time_left(const EchoRequest& request, rpc::Context&) override {
    auto child = coroutine::spawn("child", [&] {
      const rpc::Span span = tracer_.span("of the child");
      return next_.time_left(request);
    });
    if (auto reply = child.join(Deadline::never()); !reply) return reply;
    return next_.time_left(request);
  }

 private:
  Tracer& tracer_;
  EchoClient next_;
};

// A client, a relay and a server behind it, all of them with the same tracer.
class TracingTest : public testing::Test {
 protected:
  void trace_with(Tracer::Options options) {
    options.random_seed = 1;
    tracer_ = std::make_unique<Tracer>(options,
                                       [this](const SpanRecord& span) { spans_.push_back(span); });
    server_.add_filter(tracer_->server_filter());
    front_.add_filter(tracer_->server_filter());
    check(server_.add(service_).has_value() &&
              server_.listen({"server", 1}, {.door = rpc::Door::nodes}).has_value(),
          "serves");
    to_server_ = connect("server", 1);
    relay_ = std::make_unique<Relay>(*tracer_, *to_server_);
    check(front_.add(*relay_).has_value() &&
              front_.listen({"front", 2}, {.door = rpc::Door::nodes}).has_value(),
          "serves");
    client_ = connect("front", 2);
  }
  std::unique_ptr<rpc::Client> connect(const char* host, std::uint16_t port) {
    auto client = rpc::Client::connect(network_, {host, port}, Deadline::after(1s),
                                       {.filters = {tracer_->client_filter()}});
    check(client.has_value(), "the client connects");
    return std::move(*client);
  }

  const SpanRecord& span(std::string_view name, SpanKind kind) const {
    const auto found = std::ranges::find_if(
        spans_, [&](const SpanRecord& span) { return span.name == name && span.kind == kind; });
    check(found != spans_.end(), "there is such a span");
    return *found;
  }
  static std::string text(const SpanRecord& span, std::string_view key) {
    for (const auto& [name, value] : span.attributes) {
      if (name != key) continue;
      if (const auto* text = std::get_if<std::string>(&value)) return *text;
      return std::to_string(std::get<std::int64_t>(value));
    }
    return "none";
  }

  // The scope that spans leave behind ends with the task.
  static void in_task(const std::function<void()>& body) {
    auto task = coroutine::spawn("caller", [&] { body(); });
    EXPECT_TRUE(task.join(Deadline::never()));
  }

  sim::SimulatedNetwork network_;
  EchoService service_;
  std::vector<SpanRecord> spans_;
  std::unique_ptr<Tracer> tracer_;
  rpc::Server server_{network_};
  std::unique_ptr<rpc::Client> to_server_;
  std::unique_ptr<Relay> relay_;
  rpc::Server front_{network_};
  std::unique_ptr<rpc::Client> client_;
};

TEST_F(TracingTest, EachSpanIsTheChildOfTheOneAroundIt) {
  in_task([&] {
    trace_with({.sample_ratio = 1});
    ASSERT_TRUE(EchoClient(*client_).echo(make_echo("")));
    ASSERT_EQ(spans_.size(), 5u);
    // From the innermost outwards, in the order in which they end.
    const std::vector<SpanKind> kinds = {SpanKind::server, SpanKind::client, SpanKind::internal,
                                         SpanKind::server, SpanKind::client};
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      EXPECT_EQ(spans_[i].kind, kinds[i]) << i;
      EXPECT_EQ(spans_[i].context.trace_id, spans_[0].context.trace_id);
      EXPECT_TRUE(spans_[i].context.is_sampled);
      const std::uint64_t parent = i + 1 < spans_.size() ? spans_[i + 1].context.span_id : 0;
      EXPECT_EQ(spans_[i].parent_span_id, parent) << i;
    }
    EXPECT_EQ(tracer_->statistics().recorded_count, 5u);
    EXPECT_EQ(tracer_->statistics().open_count, 0u);
  });
}

TEST_F(TracingTest, SpansTakeAsLongAsTheirCalls) {
  in_task([&] {
    trace_with({.sample_ratio = 1});
    ASSERT_TRUE(EchoClient(*client_).echo(make_echo("")));
    EXPECT_EQ(spans_[4].end - spans_[4].start, 4ms);  // Two round trips of 2 ms.
    EXPECT_EQ(spans_[3].start - spans_[4].start, 1ms);
    EXPECT_EQ(spans_[3].end - spans_[3].start, 2ms);
    EXPECT_EQ(spans_[0].end - spans_[0].start, 0ms);
  });
}

TEST_F(TracingTest, TasksOfAHandlerBelongToItsSpan) {
  in_task([&] {
    trace_with({.sample_ratio = 1});
    ASSERT_TRUE(EchoClient(*client_).time_left(make_echo("")));
    ASSERT_EQ(spans_.size(), 7u);
    const auto& child = span("of the child", SpanKind::internal);
    const SpanRecord& handler = spans_[5];
    EXPECT_EQ(handler.kind, SpanKind::server);
    EXPECT_EQ(child.parent_span_id, handler.context.span_id);
    EXPECT_EQ(spans_[1].kind, SpanKind::client);
    EXPECT_EQ(spans_[1].parent_span_id, child.context.span_id);
    EXPECT_EQ(spans_[4].kind, SpanKind::client);
    EXPECT_EQ(spans_[4].parent_span_id, handler.context.span_id);
  });
}

TEST_F(TracingTest, AttributesFollowTheConventions) {
  in_task([&] {
    trace_with({.sample_ratio = 1});
    ASSERT_TRUE(EchoClient(*to_server_).echo(make_echo("")));
    const auto& served = span("corolane.test.Echo/Echo", SpanKind::server);
    EXPECT_EQ(text(served, "rpc.system"), "corolane");
    EXPECT_EQ(text(served, "rpc.service"), "corolane.test.Echo");
    EXPECT_EQ(text(served, "rpc.method"), "Echo");
    EXPECT_EQ(text(served, "network.peer.address"), "client");
    EXPECT_NE(text(served, "network.peer.port"), "none");
    EXPECT_EQ(text(served, "rpc.response.status_code"), "ok");
    EXPECT_EQ(text(served, "error.type"), "none");
    EXPECT_FALSE(served.has_failed);
    const auto& made = span("corolane.test.Echo/Echo", SpanKind::client);
    EXPECT_EQ(text(made, "server.address"), "server");
    EXPECT_EQ(text(made, "server.port"), "1");
  });
}

TEST_F(TracingTest, ErrorsOfTheCallerAreNotErrorsOfTheServer) {
  in_task([&] {
    trace_with({.sample_ratio = 1});
    EXPECT_FALSE(EchoClient(*to_server_).fail(make_fail(5, "no such game")));
    EXPECT_FALSE(span("corolane.test.Echo/Fail", SpanKind::server).has_failed);
    const auto& made = span("corolane.test.Echo/Fail", SpanKind::client);
    EXPECT_TRUE(made.has_failed);
    EXPECT_EQ(made.failure, "no such game");
    EXPECT_EQ(text(made, "error.type"), "not_found");
    spans_.clear();
    EXPECT_FALSE(EchoClient(*to_server_).fail(make_fail(13, "a bug")));
    EXPECT_TRUE(span("corolane.test.Echo/Fail", SpanKind::server).has_failed);
  });
}

TEST_F(TracingTest, CallThatIsLateEndsWithItsDeadlineOnBothSides) {
  in_task([&] {
    trace_with({.sample_ratio = 1});
    EXPECT_FALSE(
        EchoClient(*to_server_).sleep(make_sleep(1h), {.deadline = Deadline::after(50ms)}));
    ASSERT_TRUE(coroutine::sleep_for(10ms));
    EXPECT_EQ(text(span("corolane.test.Echo/Sleep", SpanKind::server), "error.type"),
              "deadline_exceeded");
    EXPECT_EQ(text(span("corolane.test.Echo/Sleep", SpanKind::client), "error.type"),
              "deadline_exceeded");
  });
}

TEST_F(TracingTest, NothingIsRecordedOrSentWithoutSampling) {
  in_task([&] {
    trace_with({.sample_ratio = 0});
    ASSERT_TRUE(EchoClient(*client_).echo(make_echo("")));
    const rpc::Span span = tracer_->span("nothing");
    EXPECT_FALSE(span.is_recorded());
    EXPECT_TRUE(spans_.empty());
    EXPECT_EQ(rpc::CallScope::current(), nullptr);
  });
}

TEST_F(TracingTest, ParentDecidesWhateverTheRatio) {
  in_task([&] {
    trace_with({.sample_ratio = 0});
    rpc::CallScope::enter(
        {.trace = {.trace_id = {std::byte{7}}, .span_id = 9, .is_sampled = true}});
    ASSERT_TRUE(EchoClient(*client_).echo(make_echo("")));
    ASSERT_EQ(spans_.size(), 5u);
    EXPECT_EQ(spans_[4].parent_span_id, 9u);
    EXPECT_EQ(spans_[0].context.trace_id[0], std::byte{7});
  });
}

TEST_F(TracingTest, TraceThatIsNotSampledStaysSoEverywhere) {
  in_task([&] {
    trace_with({.sample_ratio = 1});
    rpc::CallScope::enter({.trace = {.trace_id = {std::byte{7}}, .span_id = 9}});
    ASSERT_TRUE(EchoClient(*client_).echo(make_echo("")));
    EXPECT_TRUE(spans_.empty());
  });
}

TEST_F(TracingTest, TracesAreSampledAsAWholeAndAsOftenAsTheRatioSays) {
  in_task([&] {
    trace_with({.sample_ratio = 0.25});
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(EchoClient(*client_).echo(make_echo("")));
    EXPECT_EQ(spans_.size() % 5, 0u);
    EXPECT_NEAR(static_cast<double>(spans_.size()) / 5, 250, 60);
  });
}

TEST_F(TracingTest, SpansOutsideOfCallsMakeTracesOfTheirOwn) {
  in_task([&] {
    trace_with({.sample_ratio = 1});
    {
      rpc::Span outer = tracer_->span("outer");
      const rpc::Span inner = tracer_->span("inner");
      ASSERT_TRUE(EchoClient(*to_server_).echo(make_echo("")));
    }
    EXPECT_EQ(span("inner", SpanKind::internal).parent_span_id,
              span("outer", SpanKind::internal).context.span_id);
    EXPECT_EQ(span("corolane.test.Echo/Echo", SpanKind::client).parent_span_id,
              span("inner", SpanKind::internal).context.span_id);
    EXPECT_FALSE(rpc::CallScope::current()->trace.is_valid());
    {
      const rpc::Span next = tracer_->span("next");
    }
    EXPECT_NE(spans_.back().context.trace_id, spans_.front().context.trace_id);
  });
}

TEST_F(TracingTest, WhatTakesNoTimeIsRecordedAlsoWhereNoTaskRuns) {
  const rpc::TraceContext parent = {.trace_id = {std::byte{7}}, .span_id = 9, .is_sampled = true};
  in_task([&] {
    trace_with({});
    rpc::TraceContext own;
    coroutine::Scheduler::current().post([&] {
      own = Tracer::note(tracer_.get(), parent, SpanKind::producer, "publish", {{"to", "room"}});
    });
    ASSERT_TRUE(coroutine::sleep_for(1ms));
    ASSERT_EQ(spans_.size(), 1u);
    EXPECT_EQ(spans_[0].context, own);
    EXPECT_EQ(own.trace_id, parent.trace_id);
    EXPECT_TRUE(own.is_sampled);
    EXPECT_NE(own.span_id, parent.span_id);
    EXPECT_EQ(spans_[0].parent_span_id, 9u);
    EXPECT_EQ(spans_[0].kind, SpanKind::producer);
    EXPECT_EQ(spans_[0].start, spans_[0].end);
    EXPECT_EQ(text(spans_[0], "to"), "room");
    EXPECT_EQ(tracer_->statistics().open_count, 0u);
    EXPECT_EQ(rpc::CallScope::current(), nullptr);
  });
}

TEST_F(TracingTest, WhatIsNotRecordedLeavesItsParent) {
  const rpc::TraceContext sampled = {.trace_id = {std::byte{7}}, .span_id = 9, .is_sampled = true};
  const rpc::TraceContext unsampled = {.trace_id = {std::byte{7}}, .span_id = 9};
  in_task([&] {
    trace_with({.sample_ratio = 1, .open_count_max = 0});
    EXPECT_EQ(Tracer::note(tracer_.get(), sampled, SpanKind::consumer, "no room"), sampled);
    EXPECT_EQ(Tracer::note(nullptr, sampled, SpanKind::consumer, "no tracer"), sampled);
    EXPECT_EQ(Tracer::note(tracer_.get(), unsampled, SpanKind::consumer, "no"), unsampled);
    EXPECT_EQ(Tracer::note(tracer_.get(), {}, SpanKind::consumer, "no"), rpc::TraceContext());
    EXPECT_FALSE(Tracer::child(tracer_.get(), sampled, SpanKind::consumer, "no").is_recorded());
    EXPECT_FALSE(Tracer::child(nullptr, sampled, SpanKind::consumer, "no").is_recorded());
    EXPECT_FALSE(Tracer::child(tracer_.get(), unsampled, SpanKind::consumer, "no").is_recorded());
    EXPECT_TRUE(spans_.empty());
  });
}

TEST_F(TracingTest, SpanMayBeTheChildOfWhatAMessageHasBrought) {
  in_task([&] {
    trace_with({});
    {
      const rpc::Span outer = Tracer::child(
          tracer_.get(), {.trace_id = {std::byte{7}}, .span_id = 9, .is_sampled = true},
          SpanKind::consumer, "handle");
      const rpc::Span inner = tracer_->span("inner");
    }
    const SpanRecord& handled = span("handle", SpanKind::consumer);
    EXPECT_EQ(handled.parent_span_id, 9u);
    EXPECT_EQ(span("inner", SpanKind::internal).parent_span_id, handled.context.span_id);
    EXPECT_FALSE(rpc::CallScope::current()->trace.is_valid());
  });
}

TEST_F(TracingTest, SpanKeepsWhatItIsGivenWithinBounds) {
  in_task([&] {
    trace_with(
        {.sample_ratio = 1, .attribute_count_max = 3, .event_count_max = 2, .text_bytes_max = 8});
    {
      rpc::Span span = tracer_->span("a name that is long");
      for (int i = 0; i < 5; ++i) span.attribute("key", i);
      for (int i = 0; i < 5; ++i) span.event("happened", {{"a", true}, {"b", 0.5}, {"c", "text"}});
      span.fail(Error(Code::not_found, "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"));
    }
    const SpanRecord& span = spans_.at(0);
    EXPECT_EQ(span.name, "a name t");
    EXPECT_EQ(span.attributes.size(), 3u);
    EXPECT_EQ(span.events.size(), 2u);
    EXPECT_EQ(std::get<std::string>(span.events[1].attributes[2].second), "text");
    EXPECT_EQ(span.dropped_attribute_count, 3u);
    EXPECT_EQ(span.dropped_event_count, 3u);
    EXPECT_EQ(span.failure, "\xe2\x82\xac\xe2\x82\xac");  // No partial character.
  });
}

TEST_F(TracingTest, SpansAboveTheLimitAreCountedAndNotRecorded) {
  in_task([&] {
    trace_with({.sample_ratio = 1, .open_count_max = 2});
    ASSERT_TRUE(EchoClient(*client_).echo(make_echo("")));
    EXPECT_EQ(spans_.size(), 2u);
    EXPECT_EQ(tracer_->statistics().dropped_count, 3u);
    EXPECT_EQ(tracer_->statistics().open_count, 0u);
  });
}

TEST_F(TracingTest, StreamsHaveSpansToo) {
  in_task([&] {
    trace_with({.sample_ratio = 1});
    CountRequest request;
    request.set_count(3);
    auto stream = EchoClient(*to_server_).count(request);
    for (CountReply reply; stream.read(reply);) {
    }
    EXPECT_TRUE(stream.finish());
    EXPECT_EQ(span("corolane.test.Echo/Count", SpanKind::server).parent_span_id,
              span("corolane.test.Echo/Count", SpanKind::client).context.span_id);
  });
}

}  // namespace
}  // namespace corolane::test
