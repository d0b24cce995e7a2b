// SPDX-License-Identifier: MIT
// fetch_http(), against HttpServer and against misbehaving servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/http/http_server.h"
#include "test/fixtures/real_loop.h"
#include "test/net/raw_socket.h"
#include "test/net/stream_pair.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::HasSubstr;

// The result of fetch_http() for a peer that runs `serve` on the one connection it accepts.
Result<HttpResponse> fetch_from(std::function<void(Stream&)> serve, const HttpRequest& request,
                                const HttpOptions& options = {},
                                Duration patience = std::chrono::seconds(20)) {
  Result<HttpResponse> response = Error(Code::unknown, "not fetched");
  run_on_real_loop([&](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    auto server = coroutine::spawn("server", [&]() -> Result<void> {
      auto stream = (*listener)->accept(soon());
      if (!stream) return stream.error();
      serve(**stream);
      return {};
    });
    const Endpoint endpoint = (*listener)->local_endpoint();
    response = fetch_http(real.network, {.host = endpoint.address, .port = endpoint.port}, request,
                          Deadline::after(patience), options);
    server.cancel();
  });
  return response;
}

// The same for our own server.
Result<HttpResponse> fetch_from_ours(const HttpHandler& handler, const HttpRequest& request,
                                     const Endpoint& at = loopback) {
  Result<HttpResponse> response = Error(Code::unknown, "not fetched");
  run_on_real_loop([&](RealLoop& real) {
    HttpServer server(real.network, handler);
    const auto endpoint = server.listen(at);
    ASSERT_TRUE(endpoint) << endpoint;
    response = fetch_http(real.network, {.host = endpoint->address, .port = endpoint->port},
                          request, soon());
  });
  return response;
}

// The same for a peer that sends `text` after the request.
Result<HttpResponse> fetch_text(std::string_view text, const HttpRequest& request = {},
                                const HttpOptions& options = {}) {
  return fetch_from(
      [&](Stream& stream) {
        EXPECT_TRUE(read_text(stream));
        EXPECT_TRUE(send_text(stream, text));
        stream.finish_writing();
        static_cast<void>(read_all(stream));
      },
      request, options);
}

TEST(HttpClientTest, FetchesFromOurServer) {
  const HttpRequest request{.method = "POST",
                            .target = "/room?id=7",
                            .body = std::string(200'000, 'b'),
                            .headers = {{"X-Key", "value"}, {"Content-Type", "application/json"}}};
  const auto response = fetch_from_ours(
      [](const HttpRequest& received) {
        EXPECT_EQ(received.method, "POST");
        EXPECT_EQ(received.query("id"), "7");
        EXPECT_EQ(received.header("x-key"), "value");
        EXPECT_EQ(received.header("content-type"), "application/json");
        EXPECT_EQ(received.header("connection"), "close");
        EXPECT_THAT(std::string(received.header("host")), HasSubstr("127.0.0.1:"));
        EXPECT_THAT(std::string(received.peer), HasSubstr("127.0.0.1:"));
        return HttpResponse{.status = 201,
                            .content_type = "text/html",
                            .body = received.body,
                            .headers = {{"X-Answer", "yes"}}};
      },
      request);
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->status, 201u);
  EXPECT_EQ(response->content_type, "text/html");
  EXPECT_TRUE(response->body == request.body);
  EXPECT_EQ(response->headers.find("x-answer"), "yes");
  EXPECT_EQ(response->headers.find("content-length"), "");
}

TEST(HttpClientTest, TheHostOfAUnixSocketIsLocalhost) {
  const auto response = fetch_from_ours(
      [](const HttpRequest& received) {
        return HttpResponse{.body = std::string(received.header("host"))};
      },
      {}, {.address = "unix:@corolane-http-client-test." + std::to_string(::getpid())});
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->status, 200u);
  EXPECT_EQ(response->body, "localhost");
}

TEST(HttpClientTest, TheBodyOfAHeadResponseIsNotAwaited) {
  const auto response =
      fetch_text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", {.method = "HEAD"});
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->body, "");
}

TEST(HttpClientTest, AFailureStatusIsAResponse) {
  const auto response = fetch_text("HTTP/1.1 503 Later\r\nContent-Length: 3\r\n\r\nno!");
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->status, 503u);
  EXPECT_EQ(response->body, "no!");
}

TEST(HttpClientTest, ABodyThatArrivesWithTheHeaderDoesNotCountAsHeader) {
  const std::string body(500, 'x');
  const auto response = fetch_text("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + body, {},
                                   {.header_bytes_max = 100});
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->body, body);
}

TEST(HttpClientTest, AStatusBelow100IsNotHttp) {
  EXPECT_THAT(fetch_text("HTTP/1.1 005 OK\r\nContent-Length: 0\r\n\r\n"),
              fails_with(Code::invalid_argument));
}

TEST(HttpClientTest, ReadsChunksAndBodiesThatEndWithTheConnection) {
  const auto chunked = fetch_text(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n");
  ASSERT_TRUE(chunked) << chunked;
  EXPECT_EQ(chunked->body, "abcdef");
  const auto until_end = fetch_text("HTTP/1.0 200 OK\r\n\r\nuntil the end");
  ASSERT_TRUE(until_end) << until_end;
  EXPECT_EQ(until_end->body, "until the end");
}

TEST(HttpClientTest, SkipsInterimResponses) {
  const auto response = fetch_text(
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->status, 200u);
  EXPECT_EQ(response->body, "ok");
}

TEST(HttpClientTest, AResponseThatIsCutOffIsUnavailableAndMayHaveBeenExecuted) {
  for (const char* text : {"", "HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab"}) {
    const auto response = fetch_text(text, {.target = "/page"});
    ASSERT_THAT(response, fails_with(Code::unavailable)) << text;
    EXPECT_TRUE(response.error().maybe_executed());
    EXPECT_THAT(response.error().message(), HasSubstr("GET /page at 127.0.0.1"));
  }
}

TEST(HttpClientTest, AResponseThatIsNotHttpIsAnError) {
  EXPECT_THAT(fetch_text("SSH-2.0-OpenSSH\r\n\r\n"), fails_with(Code::invalid_argument));
}

TEST(HttpClientTest, AResponseAboveTheLimitsIsRefused) {
  EXPECT_THAT(
      fetch_text("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", {}, {.body_bytes_max = 100}),
      fails_with(Code::resource_exhausted));
  EXPECT_THAT(
      fetch_text("HTTP/1.1 200 OK\r\n\r\n" + std::string(101, 'x'), {}, {.body_bytes_max = 100}),
      fails_with(Code::resource_exhausted));
  EXPECT_THAT(fetch_text("HTTP/1.1 200 OK\r\nX-Long: " + std::string(1000, 'x') + "\r\n\r\n", {},
                         {.header_bytes_max = 1000}),
              fails_with(Code::resource_exhausted));
}

TEST(HttpClientTest, ASilentPeerIsGivenUpAtTheDeadline) {
  const auto response =
      fetch_from([](Stream& stream) { static_cast<void>(read_all(stream)); }, {}, {}, 20ms);
  EXPECT_THAT(response, fails_with(Code::deadline_exceeded));
}

TEST(HttpClientTest, ARefusalOfTheBodyIsReadAfterWritingFailed) {
  const HttpRequest request{.method = "POST", .body = flood()};
  const auto response = fetch_from_ours([](const HttpRequest&) { return HttpResponse{}; }, request);
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->status, 413u);
}

TEST(HttpClientTest, ARefusedConnectionWasNotExecuted) {
  run_on_real_loop([](RealLoop& real) {
    RawSocket nobody;
    const Endpoint endpoint = nobody.bind();
    const auto response =
        fetch_http(real.network, {.host = endpoint.address, .port = endpoint.port}, {}, soon());
    ASSERT_THAT(response, fails_with(Code::unavailable));
    EXPECT_FALSE(response.error().maybe_executed());
  });
}

TEST(HttpClientTest, ARequestThatHttpCannotCarryIsNotSent) {
  run_on_real_loop([](RealLoop& real) {
    const HostPort host{.host = "127.0.0.1", .port = 1};
    for (const HttpRequest& request :
         {HttpRequest{.method = ""}, HttpRequest{.method = "GET /"}, HttpRequest{.target = ""},
          HttpRequest{.target = "/a b"}, HttpRequest{.target = "/\r\nX: y"},
          HttpRequest{.headers = {{"X", "a\r\nY: b"}}}, HttpRequest{.headers = {{"X: y", "z"}}},
          HttpRequest{.headers = {{"", "z"}}}}) {
      EXPECT_THAT(fetch_http(real.network, host, request, soon()),
                  fails_with(Code::invalid_argument));
    }
  });
}

}  // namespace
}  // namespace corolane::net
