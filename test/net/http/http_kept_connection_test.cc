// SPDX-License-Identifier: MIT
// HttpClient: its connection between two requests, and requests whose connection breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/http/http_client.h"
#include "net/http/http_server.h"
#include "net/testing/network.h"
#include "test/net/http/scripted_server.h"
#include "test/net/tls/tls_world.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::soon;
using testing::ElementsAre;
using testing::HasSubstr;

const HostPort host{.host = "server", .port = 80};
const HttpRequest post{.method = "POST", .target = "/change", .body = "x"};

// Sleeps for `time`, or less in a cancelled task.
void pass(Duration time) { static_cast<void>(coroutine::sleep_for(time)); }

// Echoes bodies, after a delay.
class HttpClientConnectionTest : public testing::Test {
 protected:
  void serve(const HttpOptions& limits = {}) {
    server_ = std::make_unique<HttpServer>(
        network_,
        [this](const HttpRequest& request) {
          bodies_.push_back(request.body);
          pass(delay_);
          return HttpResponse{.body = request.body};
        },
        HttpServer::Options{.limits = limits});
    ASSERT_TRUE(server_->listen({.address = "server", .port = 80}));
  }

  Result<std::string> send(HttpClient& client, std::string body, Deadline deadline = soon()) {
    auto response = client.fetch({.method = "POST", .body = std::move(body)}, deadline);
    if (!response) return response.error();
    return response->body;
  }

  sim::SimulatedNetwork network_;
  std::unique_ptr<HttpServer> server_;
  Duration delay_{};
  std::vector<std::string> bodies_;
};

TEST_F(HttpClientConnectionTest, OneServesAllRequests) {
  serve();
  HttpClient client(network_, host);
  EXPECT_EQ(network_.connect_count(), 0u);
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(send(client, std::to_string(round)), std::to_string(round));
  }
  EXPECT_EQ(network_.connect_count(), 1u);
  const TimePoint start = now();
  EXPECT_EQ(send(client, "there and back"), "there and back");
  EXPECT_EQ(now() - start, 2ms);
}

TEST_F(HttpClientConnectionTest, IsKeptOverTlsToo) {
  TlsWorld world;
  HttpServer server(world.server, [](const HttpRequest&) { return HttpResponse{.body = "ok"}; });
  ASSERT_TRUE(server.listen(world.endpoint));
  HttpClient client(world.client, {.host = world.endpoint.address, .port = world.endpoint.port});
  EXPECT_EQ(send(client, "a"), "ok");
  EXPECT_EQ(send(client, "b"), "ok");
  EXPECT_EQ(world.network.connect_count(), 1u);
}

TEST_F(HttpClientConnectionTest, RequestsTakeTurnsInOrderOfArrival) {
  serve();
  delay_ = 10ms;
  HttpClient client(network_, host);
  const TimePoint start = now();
  std::vector<coroutine::Task<std::string>> tasks;
  for (const char* body : {"a", "b", "c"}) {
    tasks.push_back(coroutine::spawn("request", [&, body] { return send(client, body); }));
  }
  EXPECT_EQ(tasks[2].join(Deadline::never()), "c");
  EXPECT_EQ(now() - start, 2ms + 3 * 12ms);
  EXPECT_EQ(tasks[0].join(Deadline::never()), "a");
  EXPECT_EQ(tasks[1].join(Deadline::never()), "b");
  EXPECT_THAT(bodies_, ElementsAre("a", "b", "c"));
  EXPECT_EQ(network_.connect_count(), 1u);
}

TEST_F(HttpClientConnectionTest, IsReplacedWhenTheServerHasClosedIt) {
  serve({.idle_time_max = 1s});
  HttpClient client(network_, host);
  EXPECT_EQ(send(client, "a"), "a");
  pass(2s);
  EXPECT_EQ(send(client, "b"), "b");
  EXPECT_EQ(network_.connect_count(), 2u);
}

TEST_F(HttpClientConnectionTest, IsReplacedWhenItBroke) {
  serve();
  HttpClient client(network_, host);
  EXPECT_EQ(send(client, "a"), "a");
  network_.reset_all();
  pass(1ms);
  EXPECT_EQ(send(client, "b"), "b");
  EXPECT_THAT(bodies_, ElementsAre("a", "b"));
}

TEST_F(HttpClientConnectionTest, IsReplacedWhenItWasIdleForTooLong) {
  serve();
  HttpClient client(network_, host, {.idle_time_max = 5s});
  EXPECT_EQ(send(client, "a"), "a");
  pass(4s);
  EXPECT_EQ(send(client, "b"), "b");
  EXPECT_EQ(network_.connect_count(), 1u);
  pass(5s);
  EXPECT_EQ(send(client, "c"), "c");
  EXPECT_EQ(network_.connect_count(), 2u);
}

TEST_F(HttpClientConnectionTest, ALateAnswerIsNotTakenForTheNextOne) {
  serve();
  delay_ = 100ms;
  HttpClient client(network_, host);
  const auto late = send(client, "late", Deadline::after(50ms));
  ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(late.error().maybe_executed());
  EXPECT_THAT(late.error().message(), HasSubstr("POST / at server"));
  EXPECT_EQ(send(client, "next"), "next");
  EXPECT_EQ(network_.connect_count(), 2u);
}

TEST_F(HttpClientConnectionTest, ARequestWaitingForItsTurnHasSentNothing) {
  serve();
  delay_ = 100ms;
  HttpClient client(network_, host);
  auto first = coroutine::spawn("first", [&] { return send(client, "first"); });
  pass(10ms);
  const auto second = send(client, "second", Deadline::after(20ms));
  ASSERT_THAT(second, fails_with(Code::deadline_exceeded));
  EXPECT_FALSE(second.error().maybe_executed());
  auto third = coroutine::spawn("third", [&] { return send(client, "third"); });
  pass(1ms);
  third.cancel();
  EXPECT_THAT(third.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(first.join(Deadline::never()), "first");
  EXPECT_THAT(bodies_, ElementsAre("first"));
}

TEST_F(HttpClientConnectionTest, ACancelledRequestMayHaveBeenExecuted) {
  serve();
  delay_ = 100ms;
  HttpClient client(network_, host);
  auto task = coroutine::spawn("request", [&] { return send(client, "x"); });
  pass(50ms);
  task.cancel();
  const auto response = task.join(Deadline::never());
  ASSERT_THAT(response, fails_with(Code::cancelled));
  EXPECT_TRUE(response.error().maybe_executed());
  EXPECT_EQ(send(client, "next"), "next");
}

TEST_F(HttpClientConnectionTest, ARefusedRequestWasNotExecutedAndTheNextOneReconnects) {
  HttpClient client(network_, host);
  const auto refused = send(client, "a");
  ASSERT_THAT(refused, fails_with(Code::unavailable));
  EXPECT_FALSE(refused.error().maybe_executed());
  serve();
  EXPECT_EQ(send(client, "b"), "b");
}

TEST_F(HttpClientConnectionTest, ARequestThatHttpCannotCarryLeavesItOpen) {
  serve();
  HttpClient client(network_, host);
  EXPECT_EQ(send(client, "a"), "a");
  EXPECT_THAT(client.fetch({.target = "/a b"}, soon()), fails_with(Code::invalid_argument));
  EXPECT_EQ(send(client, "b"), "b");
  EXPECT_EQ(network_.connect_count(), 1u);
}

TEST_F(HttpClientConnectionTest, IsNotReusedWhenTheServerClosesIt) {
  for (const char* answer :
       {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        // Extra bytes behind an answer cannot answer a request that was not sent yet.
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n"}) {
    ScriptedServer server(network_, [&](Stream& stream, std::size_t) {
      while (!read_request(stream).empty()) say(stream, answer);
    });
    HttpClient client(network_, host);
    for (int round = 0; round < 2; ++round) {
      const auto response = client.fetch({}, soon());
      ASSERT_TRUE(response) << response;
      EXPECT_EQ(response->body, "ok");
    }
    EXPECT_EQ(server.connection_count(), 2u);
  }
}

TEST_F(HttpClientConnectionTest, IsNotReusedAfterAnUnsolicitedResponse) {
  ScriptedServer server(network_, [](Stream& stream, std::size_t number) {
    read_request(stream);
    say(stream, ok(std::to_string(number)));
    pass(1s);
    say(stream, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
    read_request(stream);
  });
  HttpClient client(network_, host);
  EXPECT_EQ(send(client, ""), "0");
  pass(2s);
  EXPECT_EQ(send(client, ""), "1");
}

// A server that answers the first request of its first connection, and runs `behave` for all
// others.
class HttpClientRepeatTest : public testing::Test {
 protected:
  using Behave = std::function<void(Stream& stream, std::size_t connection)>;

  void begin(Behave behave) {
    server_.emplace(network_, [this, behave](Stream& stream, std::size_t number) {
      if (number == 0) {
        read_request(stream);
        say(stream, ok("first"));
      }
      while (!stream.is_closed() && !read_request(stream).empty()) {
        ++request_count_;
        behave(stream, number);
      }
    });
    const auto first = client_.fetch({}, soon());
    ASSERT_TRUE(first) << first;
  }

  sim::SimulatedNetwork network_;
  std::optional<ScriptedServer> server_;
  HttpClient client_{network_, host};
  int request_count_ = 0;
};

void close_first(Stream& stream, std::size_t number) {
  if (number == 0) return stream.close();
  say(stream, ok("again"));
}

TEST_F(HttpClientRepeatTest, AnIdempotentRequestIsRetried) {
  begin(close_first);
  const auto response = client_.fetch({.method = "GET"}, soon());
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->body, "again");
  EXPECT_EQ(request_count_, 2);
}

TEST_F(HttpClientRepeatTest, AnyOtherRequestIsNotRetried) {
  begin(close_first);
  const auto response = client_.fetch({.method = "POST"}, soon());
  ASSERT_THAT(response, fails_with(Code::unavailable));
  EXPECT_TRUE(response.error().maybe_executed());
  EXPECT_EQ(request_count_, 1);
  const auto next = client_.fetch({.method = "POST"}, soon());
  ASSERT_TRUE(next) << next;
  EXPECT_EQ(next->body, "again");
}

TEST_F(HttpClientRepeatTest, NoRequestIsSentAThirdTime) {
  begin([](Stream& stream, std::size_t) { stream.close(); });
  const auto response = client_.fetch({.method = "GET"}, soon());
  ASSERT_THAT(response, fails_with(Code::unavailable));
  EXPECT_TRUE(response.error().maybe_executed());
  EXPECT_EQ(request_count_, 2);
}

TEST_F(HttpClientRepeatTest, ARetryThatFailsToConnectIsMarkedMaybeExecuted) {
  begin([&](Stream& stream, std::size_t) {
    network_.set_host("server", {.refuses = true});
    stream.close();
  });
  const auto response = client_.fetch({.method = "PUT"}, soon());
  ASSERT_THAT(response, fails_with(Code::unavailable));
  EXPECT_TRUE(response.error().maybe_executed());
}

TEST_F(HttpClientRepeatTest, ARequestIsNotRetriedAfterAPartialAnswer) {
  begin([](Stream& stream, std::size_t) {
    say(stream, "HTTP/1.1 200 O");
    stream.close();
  });
  EXPECT_THAT(client_.fetch({.method = "GET"}, soon()), fails_with(Code::unavailable));
  EXPECT_EQ(request_count_, 1);
}

TEST_F(HttpClientRepeatTest, ARetryKeepsTheDeadline) {
  begin([](Stream&, std::size_t) {});
  const TimePoint start = now();
  EXPECT_THAT(client_.fetch({.method = "GET"}, Deadline::after(1s)),
              fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 1s);
  EXPECT_EQ(request_count_, 1);
}

}  // namespace
}  // namespace corolane::net
