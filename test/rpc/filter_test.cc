// SPDX-License-Identifier: MIT
// Filters around calls, of servers and of clients.
#include "rpc/filter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

// A server whose filters are added before it listens.
class FilterTest : public testing::Test {
 protected:
  void serve() {
    check(server_.add(service_).has_value(), "the service can be added");
    check(server_.listen({"server", 1}, {.door = rpc::Door::nodes}).has_value(),
          "the server listens");
  }
  std::unique_ptr<rpc::Client> connect(rpc::Client::Options options = {}) {
    auto client =
        rpc::Client::connect(network_, {"server", 1}, Deadline::after(1s), std::move(options));
    check(client.has_value(), "the client connects");
    return std::move(*client);
  }
  rpc::ServerFilter log_as(const std::string& name) {
    return [this, name](rpc::Context&, const rpc::Next& next) {
      log_.push_back(name + " before");
      auto result = next();
      log_.push_back(name + " after");
      return result;
    };
  }

  sim::SimulatedNetwork network_;
  EchoService service_;
  rpc::Server server_{network_};
  // The options of a node that calls on behalf of a client.
  rpc::CallOptions as(const std::string& principal) {
    principal_ = {.id = principal};
    return {.principal = &principal_};
  }

  std::vector<std::string> log_;
  rpc::Principal principal_;
};

TEST_F(FilterTest, FirstFilterIsOutermost) {
  server_.add_filter(log_as("a"));
  server_.add_filter(log_as("b"));
  serve();
  auto client = connect();
  EXPECT_TRUE(EchoClient(*client).echo(make_echo("")));
  EXPECT_EQ(log_, (std::vector<std::string>{"a before", "b before", "b after", "a after"}));
}

TEST_F(FilterTest, FilterOfAServerMayRefuse) {
  server_.add_filter([](rpc::Context& call, const rpc::Next& next) -> Result<void> {
    if (call.principal().id != "let me in") return Error(Code::unauthenticated, "who are you?");
    return next();
  });
  serve();
  auto client = connect();
  EXPECT_THAT(EchoClient(*client).echo(make_echo("")), fails_with(Code::unauthenticated));
  EXPECT_TRUE(service_.echoed.empty());
  EXPECT_TRUE(EchoClient(*client).echo(make_echo(""), as("let me in")));
}

TEST_F(FilterTest, FilterSeesTheCallAndItsOutcome) {
  std::string seen;
  server_.add_filter([&](rpc::Context& call, const rpc::Next& next) {
    auto result = next();
    seen = std::string(call.method()) + " " + call.request().ShortDebugString() + " " +
           std::string(call.peer().substr(0, 7)) + " " +
           (result ? "ok" : std::string(to_string(result.error().code())));
    return result;
  });
  serve();
  auto client = connect();
  EXPECT_FALSE(EchoClient(*client).fail(make_fail(5, "gone")));
  EXPECT_EQ(seen, "corolane.test.Echo/Fail code: 5 text: \"gone\" client: not_found");
}

TEST_F(FilterTest, FilterSeesAHandlerThatThrowsAsAnInternalError) {
  Result<void> seen;
  server_.add_filter([&](rpc::Context&, const rpc::Next& next) { return seen = next(); });
  serve();
  auto client = connect();
  EXPECT_THAT(EchoClient(*client).explode(make_echo("bang")), fails_with(Code::internal));
  EXPECT_THAT(seen, fails_with(Code::internal));
  EXPECT_EQ(server_.statistics().stray_exception_count, 1u);
}

TEST_F(FilterTest, FilterThatThrowsIsAnInternalError) {
  server_.add_filter([](rpc::Context&, const rpc::Next&) -> Result<void> {
    throw std::runtime_error("a filter with a hole");
  });
  serve();
  auto client = connect();
  EXPECT_THAT(EchoClient(*client).echo(make_echo("")), fails_with(Code::internal));
  EXPECT_EQ(server_.statistics().stray_exception_count, 1u);
}

TEST_F(FilterTest, ObserversSeeTheOutcome) {
  std::vector<std::string> seen;
  server_.add_observer([&](rpc::Context& call, const Result<void>& outcome) {
    const std::string_view method = call.method();
    seen.push_back(std::string(method.substr(method.rfind('/') + 1)) + " " +
                   std::string(outcome ? "ok" : to_string(outcome.error().code())));
  });
  server_.add_observer([&](rpc::Context&, const Result<void>&) { seen.emplace_back("again"); });
  server_.add_filter([](rpc::Context& call, const rpc::Next& next) -> Result<void> {
    if (call.principal().id == "throw") throw std::runtime_error("a filter with a hole");
    if (call.principal().id == "refuse") return Error(Code::unauthenticated, "who are you?");
    return next();
  });
  serve();
  auto client = connect();
  EchoClient echo(*client);
  EXPECT_TRUE(echo.echo(make_echo("")));
  EXPECT_FALSE(echo.fail(make_fail(5, "gone")));
  EXPECT_FALSE(echo.explode(make_echo("bang")));
  EXPECT_FALSE(echo.echo(make_echo(""), as("refuse")));
  EXPECT_FALSE(echo.echo(make_echo(""), as("throw")));
  EXPECT_EQ(seen, (std::vector<std::string>{"Echo ok", "again", "Fail not_found", "again",
                                            "Explode internal", "again", "Echo unauthenticated",
                                            "again", "Echo internal", "again"}));
}

TEST_F(FilterTest, ObserverSeesFailuresAndCallsAboveItsBar) {
  rpc::CallBar bar{.took_max = 20ms};
  std::size_t told_count = 0;
  server_.add_observer([&](rpc::Context&, const Result<void>&) { ++told_count; }, &bar);
  Duration pause{};
  server_.add_filter([&](rpc::Context&, const rpc::Next& next) -> Result<void> {
    if (auto slept = coroutine::sleep_for(pause); !slept) return slept;
    return next();
  });
  serve();
  auto client = connect();
  EchoClient echo(*client);
  pause = 10ms;
  EXPECT_TRUE(echo.echo(make_echo("")));
  EXPECT_EQ(told_count, 0u);
  EXPECT_FALSE(echo.fail(make_fail(5, "gone")));
  EXPECT_EQ(told_count, 1u);
  pause = 30ms;
  EXPECT_TRUE(echo.echo(make_echo("")));
  EXPECT_EQ(told_count, 2u);
  bar.took_max = 40ms;
  EXPECT_TRUE(echo.echo(make_echo("")));
  EXPECT_EQ(told_count, 2u);
  bar.ends_before = now() + pause;
  EXPECT_TRUE(echo.echo(make_echo("")));
  EXPECT_EQ(told_count, 3u);
}

TEST_F(FilterTest, ObserverThatThrowsIsAnInternalError) {
  server_.add_observer([](rpc::Context&, const Result<void>&) {
    throw std::runtime_error("an observer with a hole");
  });
  serve();
  auto client = connect();
  EXPECT_THAT(EchoClient(*client).fail(make_fail(5, "gone")), fails_with(Code::internal));
  EXPECT_EQ(server_.statistics().stray_exception_count, 1u);
}

TEST_F(FilterTest, RecycledCallShowsNothingOfThePreviousOne) {
  std::vector<std::string> principals;
  server_.add_filter([&](rpc::Context& call, const rpc::Next& next) {
    principals.push_back(call.principal().id);
    return next();
  });
  serve();
  auto client = connect();
  EchoClient echo(*client);
  FailRequest full = make_fail(5, "gone, as a text that no short string holds");
  full.set_detail("where it went");
  EXPECT_FALSE(echo.fail(full, as("let me in")));
  const auto bare = echo.fail(make_fail(6));
  EXPECT_THAT(bare, fails_with(Code::already_exists));
  EXPECT_EQ(bare.error().message().find("gone"), std::string::npos);
  EXPECT_EQ(bare.error().detail(), "");
  EXPECT_EQ(principals, (std::vector<std::string>{"let me in", ""}));
}

TEST_F(FilterTest, FilterMaySuspend) {
  server_.add_filter([](rpc::Context&, const rpc::Next& next) -> Result<void> {
    if (auto slept = coroutine::sleep_for(50ms); !slept) return slept;
    return next();
  });
  serve();
  auto client = connect();
  EXPECT_THAT(EchoClient(*client).echo(make_echo(""), {.deadline = Deadline::after(20ms)}),
              fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(EchoClient(*client).echo(make_echo("")));
}

TEST_F(FilterTest, FilterOfAClientMayChangeTheOptionsAndSeesOneCallDespiteRetries) {
  bool has_refused = false;
  server_.add_filter([&](rpc::Context&, const rpc::Next& next) -> Result<void> {
    if (!std::exchange(has_refused, true)) return Error(Code::unavailable, "");
    return next();
  });
  serve();
  int count = 0;
  auto client =
      connect({.filters = {[&](rpc::OutgoingCall& call, const rpc::Next& next) -> Result<void> {
                 ++count;
                 EXPECT_EQ(call.peer, "server:1");
                 call.options.deadline = Deadline::after(1s);
                 return next();
               }}});
  EXPECT_TRUE(EchoClient(*client).echo(make_echo("")));
  EXPECT_EQ(count, 1);
  const auto left = EchoClient(*client).time_left(make_echo(""));
  ASSERT_TRUE(left);
  EXPECT_EQ(left->microseconds(), 1'000'000u);
}

TEST_F(FilterTest, TraceOfAClientReachesTheServer) {
  rpc::TraceContext seen;
  server_.add_filter([&](rpc::Context& call, const rpc::Next& next) {
    seen = call.trace();
    return next();
  });
  serve();
  rpc::TraceContext sent{.span_id = 17, .is_sampled = true};
  sent.trace_id[3] = std::byte{9};
  auto client =
      connect({.filters = {[&](rpc::OutgoingCall& call, const rpc::Next& next) -> Result<void> {
                 call.trace = sent;
                 return next();
               }}});
  EXPECT_TRUE(EchoClient(*client).echo(make_echo("")));
  EXPECT_EQ(seen, sent);
}

}  // namespace
}  // namespace corolane::test
