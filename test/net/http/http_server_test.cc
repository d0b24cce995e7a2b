// SPDX-License-Identifier: MIT
// HttpServer under arbitrary input from its peers, in virtual time.
#include "net/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "coroutine/virtual_time.h"
#include "net/testing/network.h"
#include "test/fixtures/real_loop.h"
#include "test/net/stream_pair.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

HttpResponse echo(const HttpRequest& request) {
  if (request.path() == "/throw") throw std::runtime_error("a handler's secret");
  if (request.path() == "/split") return {.headers = {{"X-Bad", "a\r\nSet-Cookie: evil"}}};
  if (request.path() == "/status") {
    return {.status = static_cast<unsigned>(std::stoi(std::string(request.query("is"))))};
  }
  if (request.path() == "/nothing") return {.status = 204, .body = "ignored"};
  HttpResponse response{.body = request.method + " " + request.target + " [" + request.body + "]"};
  response.headers = {{"X-Host", std::string(request.header("host"))}, {"content-length", "7"}};
  return response;
}

HttpServer::Options with_limits(const HttpOptions& limits) {
  return {.limits = limits, .sends_date = false};
}

// A server of echo() and a connection to it.
struct Served {
  explicit Served(const HttpOptions& limits = {}, std::size_t piece_bytes_max = 64 * 1024)
      : Served(with_limits(limits), piece_bytes_max) {}
  explicit Served(const HttpServer::Options& options, std::size_t piece_bytes_max = 64 * 1024,
                  const HttpHandler& handler = echo)
      : network({.piece_bytes_max = piece_bytes_max}), server(network, handler, options) {
    const auto listens = server.listen({"server", 0});
    EXPECT_TRUE(listens) << listens;
    endpoint = *listens;
    client = connect();
  }
  std::unique_ptr<Stream> connect() {
    auto connected = network.connect(endpoint, soon());
    EXPECT_TRUE(connected) << connected;
    return std::move(*connected);
  }

  sim::SimulatedNetwork network;
  HttpServer server;
  Endpoint endpoint;
  std::unique_ptr<Stream> client;
};

// The answer to `request` on a connection that ends with it.
std::string answer_to(std::string_view request, const HttpOptions& options = {},
                      std::size_t piece_bytes_max = 64 * 1024) {
  Served served(options, piece_bytes_max);
  EXPECT_TRUE(served.client->try_write(bytes_of(request)));
  return read_all(*served.client).value_or("no answer");
}

constexpr std::string_view hello_response =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: text/plain; charset=utf-8\r\n"
    "Content-Length: 15\r\n"
    "Connection: keep-alive\r\n"
    "X-Host: test\r\n"
    "\r\n"
    "GET /hello?a []";

TEST(HttpServerTest, AnswersAGet) {
  Served served;
  Stream& client = *served.client;
  EXPECT_TRUE(send_text(client, "GET /hello?a HTTP/1.1\r\nHost: test\r\n\r\n"));
  EXPECT_EQ(read_exactly(client, hello_response.size()).value_or(""), hello_response);
}

TEST(HttpServerTest, AnswersRequestsOfOneConnectionOneAfterTheOther) {
  Served served;
  Stream& client = *served.client;
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(send_text(client, "GET /hello?a HTTP/1.1\r\nHost: test\r\n\r\n"));
    EXPECT_EQ(read_exactly(client, hello_response.size()).value_or(""), hello_response);
  }
}

TEST(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  const std::string answer = answer_to(
      "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
      "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
      "POST /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n"
      "GET /4 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const auto first = answer.find("GET /1 []");
  const auto second = answer.find("POST /2 [abc]");
  const auto third = answer.find("POST /3 [def]");
  const auto fourth = answer.find("GET /4 []");
  EXPECT_TRUE(first < second && second < third && third < fourth) << answer;
  EXPECT_NE(fourth, std::string::npos) << answer;
}

TEST(HttpServerTest, ReadsARequestThatComesByteByByte) {
  Served served;
  Stream& client = *served.client;
  for (const char byte : std::string_view("GET /hello?a HTTP/1.1\r\nHost: test\r\n\r\n")) {
    EXPECT_TRUE(send_text(client, {&byte, 1}));
  }
  EXPECT_EQ(read_exactly(client, hello_response.size()).value_or(""), hello_response);
}

TEST(HttpServerTest, ReadsALargeBody) {
  const std::string body(1024 * 1024, 'b');
  const std::string answer =
      answer_to("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(answer.ends_with("POST / [" + body + "]"));
}

TEST(HttpServerTest, InvitesABodyThatWaitsForAnInvitation) {
  Served served;
  Stream& client = *served.client;
  EXPECT_TRUE(send_text(client,
                        "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                        "Content-Length: 2\r\nConnection: close\r\n\r\n"));
  EXPECT_EQ(read_exactly(client, 25).value_or(""), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(send_text(client, "ok"));
  EXPECT_THAT(read_all(client).value_or(""), EndsWith("POST / [ok]"));
}

TEST(HttpServerTest, HeadIsAnsweredWithoutABody) {
  const std::string answer =
      answer_to("HEAD /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 14\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(HttpServerTest, AStatusThatForbidsABodyHasNone) {
  const std::string answer =
      answer_to("GET /nothing HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(answer, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

TEST(HttpServerTest, AnHttp10PeerGetsOneAnswerAndTheEnd) {
  const std::string answer = answer_to("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
}

TEST(HttpServerTest, AnExceptionOfTheHandlerIsA500WithoutItsText) {
  const std::string answer =
      answer_to("GET /throw HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 Internal Server Error\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("secret")));
}

TEST(HttpServerTest, AHandlerCannotBreakOutOfAHeader) {
  const std::string answer =
      answer_to("GET /split HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 Internal Server Error\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("evil")));
}

TEST(HttpServerTest, AnInvalidStatusIsA500) {
  for (const char* const status : {"0", "5", "99", "1000"}) {
    const std::string answer = answer_to(std::string("GET /status?is=") + status +
                                         " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 Internal Server Error\r\n")) << status;
  }
}

TEST(HttpServerTest, GarbageIsA400AndTheEnd) {
  for (const char* garbage :
       {"\x16\x03\x01 this is TLS\r\n\r\n", "GET\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"}) {
    const std::string answer = answer_to(garbage);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 Bad Request\r\n")) << garbage;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  }
}

TEST(HttpServerTest, AnUnknownVersionOfHttpIsA505) {
  for (const char* version : {"2.0", "9.9", "0.9"}) {
    const std::string answer = answer_to("GET / HTTP/" + std::string(version) + "\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 505 HTTP Version Not Supported\r\n"));
  }
}

TEST(HttpServerTest, AnOversizedHeaderIsA431) {
  const std::string whole(1000, 'x');
  const std::string half(500, 'x');
  const std::vector<std::string> requests = {
      "GET /" + whole + " HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + whole + "\r\n\r\n",
      "GET /" + half + " HTTP/1.1\r\nHost: h\r\nX-Long: " + half + "\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nX-Endless: " + whole,
  };
  for (const std::string& request : requests) {
    EXPECT_THAT(answer_to(request, {.header_bytes_max = 1000}),
                StartsWith("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
  }
}

TEST(HttpServerTest, AHeaderAtItsLimitIsFine) {
  const std::string begin = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-Long: ";
  const std::string request = begin + std::string(1000 - begin.size() - 4, 'x') + "\r\n\r\n";
  ASSERT_EQ(request.size(), 1000u);
  EXPECT_THAT(answer_to(request, {.header_bytes_max = 1000}), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpServerTest, AnOversizedBodyIsA413) {
  const std::string chunk(50, 'x');
  const std::vector<std::string> requests = {
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n" + chunk +
          "\r\n33\r\n" + chunk + "x\r\n",
  };
  for (const std::string& request : requests) {
    EXPECT_THAT(answer_to(request, {.body_bytes_max = 100}),
                StartsWith("HTTP/1.1 413 Payload Too Large\r\n"));
  }
}

TEST(HttpServerTest, APeerThatKeepsSendingStillReadsItsRefusal) {
  Served served(HttpOptions{.body_bytes_max = 100});
  Stream& client = *served.client;
  const std::string body(300'000, 'x');
  EXPECT_TRUE(send_text(client, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n"));
  EXPECT_TRUE(send_text(client, body));
  client.finish_writing();
  EXPECT_THAT(read_all(client).value_or("lost"), StartsWith("HTTP/1.1 413 Payload Too Large\r\n"));
}

TEST(HttpServerTest, AnEndlessLineBetweenChunksIsRefused) {
  const std::string request = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
                              std::string(20'000, 'x');
  EXPECT_THAT(answer_to(request), StartsWith("HTTP/1.1 4"));
}

TEST(HttpServerTest, ASlowRequestIsCutOffByItsLimit) {
  const HttpOptions options{.request_time_max = 5ms};
  for (const char* part : {"G", "GET / HTTP/1.1\r\nHost: h\r\nHost:",
                           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf"}) {
    EXPECT_THAT(answer_to(part, options), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
  }
}

TEST(HttpServerTest, AnIdlePeerIsDisconnected) {
  const TimePoint start = now();
  EXPECT_EQ(answer_to("", {.idle_time_max = 5s}), "");
  EXPECT_GE(now() - start, 5s);
}

TEST(HttpServerTest, APeerThatLeavesInsideARequestIsForgotten) {
  for (const char* part : {"", "GET / HT", "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET"}) {
    Served served;
    EXPECT_TRUE(served.client->try_write(bytes_of(part)));
    ASSERT_TRUE(coroutine::sleep_for(1s));
    EXPECT_EQ(served.server.statistics().connection_count, 1u);
    served.client->close();
    ASSERT_TRUE(coroutine::sleep_for(1s));
    EXPECT_EQ(served.server.statistics().connection_count, 0u) << part;
  }
}

TEST(HttpServerTest, AnIdleConnectionHasNoTask) {
  Served served;
  EXPECT_TRUE(send_text(*served.client, "GET /hello?a HTTP/1.1\r\nHost: test\r\n\r\nGET /ha"));
  EXPECT_EQ(read_exactly(*served.client, hello_response.size()).value_or(""), hello_response);
  EXPECT_EQ(served.server.statistics().connection_count, 1u);
  EXPECT_EQ(served.server.statistics().serving_count, 0u);
}

TEST(HttpServerTest, APeerThatFinishedSendingGetsAllAnswers) {
  Served served;
  EXPECT_TRUE(served.client->try_write(
      bytes_of("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nPOST /3 "
               "HTTP/1.1\r\nHost: h\r\nContent-Le")));
  served.client->finish_writing();
  const std::string answers = read_all(*served.client).value_or("");
  EXPECT_THAT(answers, HasSubstr("GET /1 []"));
  EXPECT_THAT(answers, EndsWith("GET /2 []"));
}

// The number of answers, each complete: a head and a body of the announced length.
std::size_t whole_answer_count(std::string_view answers) {
  constexpr std::string_view length = "Content-Length: ";
  std::size_t count = 0;
  while (!answers.empty()) {
    const std::size_t head_end = answers.find("\r\n\r\n");
    const std::size_t length_at = answers.find(length);
    if (!answers.starts_with("HTTP/1.1 200") || length_at > head_end) return 0;
    const std::size_t body = std::stoul(std::string(answers.substr(length_at + length.size(), 8)));
    if (answers.size() < head_end + 4 + body) return 0;
    answers.remove_prefix(head_end + 4 + body);
    ++count;
  }
  return count;
}

TEST(HttpServerTest, AnswersAreWholeAfterAHalfClose) {
  Served served(with_limits({}), 64 * 1024,
                [](const HttpRequest&) { return HttpResponse{.body = std::string(3000, 'x')}; });
  std::string requests;
  for (int i = 0; i < 3000; ++i) requests += "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  EXPECT_TRUE(served.client->try_write(bytes_of(requests)));
  served.client->finish_writing();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const std::string answers = read_all(*served.client).value_or("");
  // The rest does not fit into the output.
  EXPECT_GE(whole_answer_count(answers), 80u);
}

// Answers each request at once, with a body of 3,000 bytes.
struct AtOnce final : HttpService {
  void begin(HttpExchange& exchange) override {
    exchange.response().body = std::string(3000, 'x');
    exchange.answer_at_once();
  }
};

TEST(HttpServerTest, AnswersWithoutATaskWaitForRoomToo) {
  for (const bool closes_half : {false, true}) {
    sim::SimulatedNetwork network;
    AtOnce service;
    HttpServer server(network, service, HttpServer::Options{});
    ASSERT_TRUE(server.listen({"server", 1}));
    const auto client = network.connect({"server", 1}, soon());
    ASSERT_TRUE(client);
    std::string requests;
    for (int i = 0; i < 3000; ++i) requests += "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    EXPECT_TRUE((*client)->try_write(bytes_of(requests)));
    if (closes_half) (*client)->finish_writing();
    std::string answers;
    for (std::size_t before = 1; answers.size() != before;) {
      before = answers.size();
      answers += read_text(**client, Deadline::after(1s)).value_or("");
    }
    EXPECT_EQ(whole_answer_count(answers), 3000u) << closes_half;
  }
}

TEST(HttpServerTest, ARequestBehindWhichThePeerClosesItsHalfIsAnswered) {
  Served served(with_limits({}), 1024, [](const HttpRequest&) {
    const bool is_whole = coroutine::sleep_for(500ms).has_value();
    return HttpResponse{.body = is_whole ? "whole" : "cancelled"};
  });
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  served.client->finish_writing();
  EXPECT_THAT(read_all(*served.client).value_or(""), EndsWith("whole"));
}

TEST(HttpServerTest, APeerThatReadsItsLastAnswersSlowlyGetsAllOfThem) {
  Served served(with_limits({}), 64 * 1024,
                [](const HttpRequest&) { return HttpResponse{.body = std::string(400'000, 'x')}; });
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  served.client->finish_writing();
  std::string answer;
  for (std::string part = " "; !part.empty();) {
    ASSERT_TRUE(coroutine::sleep_for(100ms));
    part = read_text(*served.client, soon()).value_or("");
    answer += part;
  }
  EXPECT_EQ(whole_answer_count(answer), 1u);
}

// A handler that takes a minute, unless it is cancelled.
struct Slow {
  HttpHandler handler() {
    return [this](const HttpRequest&) {
      ++begun_count;
      if (!coroutine::sleep_for(60s)) ++cancelled_count;
      return HttpResponse{.body = "at last"};
    };
  }
  int begun_count = 0;
  int cancelled_count = 0;
};

TEST(HttpServerTest, APeerThatGoesAwayCancelsItsRequest) {
  Slow slow;
  Served served(with_limits({}), 1024, slow.handler());
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(slow.begun_count, 1);
  EXPECT_EQ(slow.cancelled_count, 0);
  served.client->close();
  ASSERT_TRUE(coroutine::sleep_for(500ms));
  EXPECT_EQ(slow.cancelled_count, 0) << "it may have closed one half only";
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(slow.cancelled_count, 1);
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_EQ(served.server.statistics().connection_count, 0u);
}

TEST(HttpServerTest, APeerThatSendsFarAheadIsReadAsItsRequestsAreAnswered) {
  HttpServer::Options options = with_limits({});
  options.pipelined_bytes_max = 1'000;
  std::vector<std::size_t> body_sizes;
  const net::Stream* client = nullptr;
  std::uint64_t waiting_count = 0;  // Bytes of the client, while the first request is answered.
  Served served(options, 1024, [&](const HttpRequest& request) {
    static_cast<void>(coroutine::sleep_for(1s));
    body_sizes.push_back(request.body.size());
    if (body_sizes.size() == 1) {
      const net::StreamStatistics statistics = client->statistics();
      waiting_count = statistics.written_bytes - statistics.acknowledged_bytes;
    }
    return HttpResponse{.body = std::to_string(request.body.size())};
  });
  client = served.client.get();
  // Far more than the kernel holds for the connection, one of them longer than the bound.
  constexpr std::size_t bodies[] = {10, 50'000, 0, 200'000, 7};
  std::string requests;
  for (const std::size_t size : bodies) {
    requests += "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(size) +
                "\r\n\r\n" + std::string(size, 'x');
  }
  auto writing = coroutine::spawn(
      "write", [&] { return served.client->write_all(bytes_of(requests), Deadline::after(1min)); });
  std::string answers;
  while (!answers.ends_with("\r\n\r\n7")) {
    auto text = read_text(*served.client, Deadline::after(1min));
    ASSERT_TRUE(text) << text.error();
    answers += *text;
  }
  EXPECT_TRUE(writing.join(Deadline::never()));
  EXPECT_THAT(body_sizes, testing::ElementsAreArray(bodies));
  EXPECT_THAT(answers, Not(HasSubstr("Connection: close")));
  EXPECT_GT(waiting_count, 100'000u) << "they wait for the first answer";
  // It is read again: its end is noticed.
  served.client->close();
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_EQ(served.server.statistics().connection_count, 0u);
}

TEST(HttpServerTest, ConnectionsAboveTheLimitWaitForTheirTurn) {
  HttpServer::Options options = with_limits({});
  options.connection_count_max = 1;
  Served served(options);
  const auto late = served.connect();
  EXPECT_TRUE(late->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  EXPECT_THAT(read_text(*late, Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  served.client->close();
  EXPECT_THAT(read_text(*late).value_or(""), StartsWith("HTTP/1.1 200 OK\r\n"));
}

HttpServer::Options that_evicts(std::size_t connection_count_max) {
  HttpServer::Options options = with_limits({});
  options.connection_count_max = connection_count_max;
  options.evicts_idle = true;
  return options;
}

TEST(HttpServerTest, EvictsTheConnectionThatHasBeenIdleLongestForANewOne) {
  Served served(that_evicts(2));
  const auto second = served.connect();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  // From here on the second one is the idlest, though it came later.
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  EXPECT_THAT(read_text(*served.client).value_or(""), StartsWith("HTTP/1.1 200 OK\r\n"));
  const auto third = served.connect();
  EXPECT_TRUE(third->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  EXPECT_THAT(read_text(*third).value_or(""), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(read_all(*second).value_or("lost"), "");
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  EXPECT_THAT(read_text(*served.client).value_or(""), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(served.server.statistics().connection_count, 2u);
}

TEST(HttpServerTest, EvictsAConnectionWithHalfARequest) {
  Served served(that_evicts(1));
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost:")));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const auto late = served.connect();
  EXPECT_TRUE(late->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  EXPECT_THAT(read_text(*late, Deadline::after(1s)).value_or(""),
              StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(read_all(*served.client).value_or("lost"), "");
}

TEST(HttpServerTest, EvictsNoConnectionWhoseRequestIsBeingServed) {
  Slow slow;
  Served served(that_evicts(1), 1024, slow.handler());
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const auto late = served.connect();
  EXPECT_TRUE(late->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  EXPECT_THAT(read_text(*served.client, Deadline::after(2min)).value_or(""), EndsWith("at last"));
  EXPECT_THAT(read_text(*late, Deadline::after(2min)).value_or(""), EndsWith("at last"));
  EXPECT_EQ(slow.cancelled_count, 0);
}

TEST(HttpServerTest, EvictsAPeerThatTakesNoAnswerWhenAllHaveRequests) {
  Served served(that_evicts(1), 64 * 1024,
                [](const HttpRequest&) { return HttpResponse{.body = std::string(400'000, 'x')}; });
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  ASSERT_EQ(served.server.statistics().serving_count, 1u);
  const auto late = served.connect();
  EXPECT_TRUE(late->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  EXPECT_THAT(read_text(*late, Deadline::after(2s)).value_or(""),
              StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(served.server.statistics().connection_count, 1u);
}

TEST(HttpServerTest, StopsWhileANewConnectionWaitsForAPlace) {
  Slow slow;
  Served served(that_evicts(1), 1024, slow.handler());
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const auto late = served.connect();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_THAT(served.server.stop(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(read_all(*late).value_or(""), "");
}

TEST(HttpServerTest, StoppingLetsRequestsFinish) {
  Slow slow;
  Served served(with_limits({}), 1024, slow.handler());
  const auto idle = served.connect();
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  auto answer =
      coroutine::spawn("reader", [&] { return read_text(*served.client, Deadline::after(2min)); });
  EXPECT_TRUE(served.server.stop(Deadline::after(2min)));
  EXPECT_EQ(read_all(*idle).value_or("lost"), "");
  const auto text = answer.join(Deadline::never());
  EXPECT_THAT(text.value_or(""), HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(text.value_or(""), EndsWith("at last"));
  EXPECT_EQ(served.server.statistics().connection_count, 0u);
}

TEST(HttpServerTest, StoppingEndsRequestsAtItsDeadline) {
  Slow slow;
  Served served(with_limits({}), 1024, slow.handler());
  EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const TimePoint start = now();
  EXPECT_THAT(served.server.stop(Deadline::after(2s)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 2s);
  EXPECT_EQ(slow.cancelled_count, 1);
}

TEST(HttpServerTest, ARequestWithoutAStackIsRefused) {
  coroutine::VirtualTime time;
  coroutine::Scheduler full(time, {.stacks = {.stack_count_max = 32, .control_count = 4}});
  const auto ran = full.run("main", [] {
    Served served;
    coroutine::TaskGroup load;
    while (load.spawn("load", [] { static_cast<void>(coroutine::sleep_for(1h)); })) continue;
    EXPECT_TRUE(served.client->try_write(bytes_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n")));
    const std::string answer = read_text(*served.client, soon()).value_or("");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
    EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
    load.cancel_and_join();
  });
  EXPECT_TRUE(ran) << ran;
}

TEST(HttpServerTest, RefusesDuplicatesOfUniqueFields) {
  for (const char* fields : {"Host: h\r\nHost: h", "Host: h\r\nhost: i",
                             "Host: h\r\nOrigin: http://h\r\nOrigin: http://h",
                             "Host: h\r\nOrigin: http://h\r\nORIGIN: null"}) {
    EXPECT_THAT(answer_to("GET / HTTP/1.1\r\n" + std::string(fields) + "\r\n\r\n"),
                StartsWith("HTTP/1.1 400 "))
        << fields;
  }
}

TEST(HttpServerTest, RefusesAMalformedHost) {
  for (const char* host : {"a b", "a/b", "a@b", "a?b", "a#b", "a\\b", "a\"b"}) {
    EXPECT_THAT(answer_to("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"),
                StartsWith("HTTP/1.1 400 "))
        << host;
  }
  for (const char* host : {"", "a-b.example:80", "[::1]:80", "a_b", "%61", "a.b~!$&'()*+,;=c"}) {
    EXPECT_THAT(
        answer_to("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\nConnection: close\r\n\r\n"),
        StartsWith("HTTP/1.1 200 "))
        << host;
  }
}

TEST(HttpServerTest, ABodyWithTwoEndsIsRefused) {
  for (const char* fields :
       {"Content-Length: 3\r\nTransfer-Encoding: chunked", "Content-Length: 3\r\nContent-Length: 4",
        "Transfer-Encoding: chunked\r\nContent-Length: 3", "Content-Length : 3",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"}) {
    const std::string request =
        "POST / HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n\r\n0\r\n\r\n";
    EXPECT_THAT(answer_to(request), StartsWith("HTTP/1.1 400 ")) << fields;
  }
  EXPECT_THAT(answer_to("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
  for (const char* coding : {"gzip", "gzip, chunked", "chunked, gzip", "xchunked"}) {
    const std::string request =
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: " + std::string(coding) +
        "\r\n\r\n0\r\n\r\n";
    EXPECT_THAT(answer_to(request), StartsWith("HTTP/1.1 501 ")) << coding;
  }
}

TEST(HttpServerTest, ARequestMustNameExactlyOneHost) {
  for (const char* fields : {"", "Host: one\r\nHost: two\r\n", "Host: one\r\nhost: one\r\n"}) {
    EXPECT_THAT(answer_to("GET / HTTP/1.1\r\nConnection: close\r\n" + std::string(fields) + "\r\n"),
                StartsWith("HTTP/1.1 400 "))
        << fields;
  }
  EXPECT_THAT(answer_to("GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer_to("GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServerTest, TrailerFieldsAreIgnored) {
  Served served(with_limits({}), 1024, [](const HttpRequest& request) {
    return HttpResponse{.body = "[" + std::string(request.header("authorization")) + "]"};
  });
  EXPECT_TRUE(served.client->try_write(bytes_of(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      "1\r\nx\r\n0\r\nAuthorization: Bearer forged\r\n\r\n")));
  EXPECT_THAT(read_all(*served.client).value_or(""), EndsWith("[]"));
}

TEST(HttpServerTest, SendsTheDate) {
  HttpServer::Options options;
  Served served(options);
  EXPECT_TRUE(send_text(*served.client, "GET / HTTP/1.0\r\n\r\n"));
  EXPECT_THAT(read_all(*served.client).value_or(""),
              testing::ContainsRegex("\r\nDate: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} 20[0-9]{2} "
                                     "[0-9:]{8} GMT\r\n"));
}

TEST(HttpServerTest, CurlUnderstandsIt) {
  COROLANE_NEEDS(test::missing_program("curl"));
  run_on_real_loop([](RealLoop& real) {
    HttpServer server(real.network, echo);
    const auto endpoint = server.listen(loopback);
    ASSERT_TRUE(endpoint) << endpoint;
    const std::string url = "http://" + to_string(*endpoint);
    std::string printed;
    coroutine::Event done;
    std::thread curl([&] {
      const std::string command = "curl --silent --show-error --max-time 20 --data 0123456789 '" +
                                  url + "/one' --next --silent --include '" + url + "/two' 2>&1";
      std::FILE* const pipe = popen(command.c_str(), "r");
      std::array<char, 4096> part;
      for (std::size_t size; (size = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
        printed.append(part.data(), size);
      }
      pclose(pipe);
      real.scheduler.post([&] { done.set(); });
    });
    EXPECT_TRUE(done.wait(soon()));
    curl.join();
    EXPECT_THAT(printed, StartsWith("POST /one [0123456789]HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(printed, EndsWith("GET /two []"));
    EXPECT_EQ(server.statistics().accepted_count, 1u) << "both requests came on one connection";
  });
}

TEST(HttpServerTest, StopInAHandlerFailsInsteadOfWaitingForItself) {
  sim::SimulatedNetwork network;
  HttpServer* server = nullptr;
  Result<void> stopped;
  HttpServer owned(network, HttpHandler([&](const HttpRequest&) {
                     stopped = server->stop(Deadline::after(1s));
                     return HttpResponse{.body = "on it goes"};
                   }));
  server = &owned;
  ASSERT_TRUE(owned.listen({"server", 80}));
  const auto response = fetch_http(network, {"server", 80}, {}, Deadline::after(1s));
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->body, "on it goes");
  EXPECT_THAT(stopped, fails_with(Code::failed_precondition));
}

}  // namespace
}  // namespace corolane::net
