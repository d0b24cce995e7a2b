// serve_http() as peers see it who send whatever they like.
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

#include "coroutine/event.h"
#include "coroutine/task.h"
#include "net/http.h"
#include "test/net/stream_pair.h"
#include "test/support/matchers.h"
#include "test/support/real_loop.h"

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

// Serves one connection with echo() and gives its peer's end to the test; what serve_http()
// returned is in `served` afterwards.
void with_server(RealLoop& real, const HttpOptions& options, Result<void>& served,
                 const std::function<void(Stream&)>& test) {
  auto pair = make_stream_pair(real.network);
  ASSERT_TRUE(pair) << pair;
  auto server = coroutine::spawn("server", [&] {
    auto result = serve_http(*pair->server, echo, options);
    pair->server.reset();
    return result;
  });
  test(*pair->client);
  pair->client->close();
  served = server.join(soon());
}

void with_server(const HttpOptions& options, const std::function<void(Stream&)>& test) {
  run_on_real_loop([&](RealLoop& real) {
    Result<void> served;
    with_server(real, options, served, test);
  });
}

// The answer to `request` on a connection that ends with it.
std::string answer_to(std::string_view request, const HttpOptions& options = {},
                      Result<void>* served = nullptr) {
  std::string answer;
  run_on_real_loop([&](RealLoop& real) {
    Result<void> result;
    with_server(real, options, result, [&](Stream& client) {
      EXPECT_TRUE(client.try_write(bytes_of(request)));
      answer = read_all(client).value_or("no answer");
    });
    if (served != nullptr) *served = result;
  });
  return answer;
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
  with_server({}, [](Stream& client) {
    EXPECT_TRUE(send_text(client, "GET /hello?a HTTP/1.1\r\nHost: test\r\n\r\n"));
    EXPECT_EQ(read_exactly(client, hello_response.size()).value_or(""), hello_response);
  });
}

TEST(HttpServerTest, AnswersRequestsOfOneConnectionOneAfterTheOther) {
  with_server({}, [](Stream& client) {
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(send_text(client, "GET /hello?a HTTP/1.1\r\nHost: test\r\n\r\n"));
      EXPECT_EQ(read_exactly(client, hello_response.size()).value_or(""), hello_response);
    }
  });
}

TEST(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  const std::string answer = answer_to(
      "GET /1 HTTP/1.1\r\n\r\n"
      "POST /2 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
      "POST /3 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n"
      "GET /4 HTTP/1.1\r\nConnection: close\r\n\r\n");
  const auto first = answer.find("GET /1 []");
  const auto second = answer.find("POST /2 [abc]");
  const auto third = answer.find("POST /3 [def]");
  const auto fourth = answer.find("GET /4 []");
  EXPECT_TRUE(first < second && second < third && third < fourth) << answer;
  EXPECT_NE(fourth, std::string::npos) << answer;
}

TEST(HttpServerTest, ReadsARequestThatComesByteByByte) {
  with_server({}, [](Stream& client) {
    for (const char byte : std::string_view("GET /hello?a HTTP/1.1\r\nHost: test\r\n\r\n")) {
      EXPECT_TRUE(send_text(client, {&byte, 1}));
    }
    EXPECT_EQ(read_exactly(client, hello_response.size()).value_or(""), hello_response);
  });
}

TEST(HttpServerTest, ReadsALargeBody) {
  const std::string body(1024 * 1024, 'b');
  const std::string answer = answer_to("POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: " +
                                       std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(answer.ends_with("POST / [" + body + "]"));
}

TEST(HttpServerTest, InvitesABodyThatWaitsForIt) {
  with_server({}, [](Stream& client) {
    EXPECT_TRUE(send_text(client,
                          "POST / HTTP/1.1\r\nExpect: 100-continue\r\n"
                          "Content-Length: 2\r\nConnection: close\r\n\r\n"));
    EXPECT_EQ(read_exactly(client, 25).value_or(""), "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_TRUE(send_text(client, "ok"));
    EXPECT_THAT(read_all(client).value_or(""), EndsWith("POST / [ok]"));
  });
}

TEST(HttpServerTest, HeadIsAnsweredWithoutABody) {
  const std::string answer = answer_to("HEAD /hello HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 14\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(HttpServerTest, AStatusWithoutBodyHasNone) {
  const std::string answer = answer_to("GET /nothing HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(answer, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

TEST(HttpServerTest, OldPeersGetOneAnswerAndTheEnd) {
  Result<void> served;
  const std::string answer = answer_to("GET / HTTP/1.0\r\n\r\n", {}, &served);
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(served) << served;
}

TEST(HttpServerTest, AnExceptionOfTheHandlerIsA500AndKeptSecret) {
  const std::string answer = answer_to("GET /throw HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 Internal Server Error\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("secret")));
}

TEST(HttpServerTest, AHandlerCannotBreakOutOfAHeader) {
  const std::string answer = answer_to("GET /split HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 Internal Server Error\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("evil")));
}

TEST(HttpServerTest, AStatusThatIsNoneOfHttpIsA500) {
  for (const char* const status : {"0", "5", "99", "1000"}) {
    const std::string answer = answer_to(std::string("GET /status?is=") + status +
                                         " HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 Internal Server Error\r\n")) << status;
  }
}

TEST(HttpServerTest, GarbageIsA400AndTheEnd) {
  for (const char* garbage :
       {"\x16\x03\x01 this is TLS\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"}) {
    Result<void> served;
    const std::string answer = answer_to(garbage, {}, &served);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 Bad Request\r\n")) << garbage;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(served, fails_with(Code::invalid_argument));
  }
}

TEST(HttpServerTest, AnOversizedHeaderIsA431) {
  const std::string whole(1000, 'x');
  const std::string half(500, 'x');
  const std::vector<std::string> requests = {
      "GET /" + whole + " HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nX-Long: " + whole + "\r\n\r\n",
      "GET /" + half + " HTTP/1.1\r\nX-Long: " + half + "\r\n\r\n",
      "GET / HTTP/1.1\r\nX-Endless: " + whole,
  };
  for (const std::string& request : requests) {
    Result<void> served;
    EXPECT_THAT(answer_to(request, {.header_bytes_max = 1000}, &served),
                StartsWith("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
    EXPECT_THAT(served, fails_with(Code::resource_exhausted));
  }
}

TEST(HttpServerTest, AHeaderAtItsLimitIsFine) {
  const std::string begin = "GET / HTTP/1.1\r\nConnection: close\r\nX-Long: ";
  const std::string request = begin + std::string(1000 - begin.size() - 4, 'x') + "\r\n\r\n";
  ASSERT_EQ(request.size(), 1000u);
  EXPECT_THAT(answer_to(request, {.header_bytes_max = 1000}), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpServerTest, AnOversizedBodyIsA413) {
  const std::string chunk(50, 'x');
  const std::vector<std::string> requests = {
      "POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n",
      "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n" + chunk + "\r\n33\r\n" + chunk +
          "x\r\n",
  };
  for (const std::string& request : requests) {
    Result<void> served;
    EXPECT_THAT(answer_to(request, {.body_bytes_max = 100}, &served),
                StartsWith("HTTP/1.1 413 Payload Too Large\r\n"));
    EXPECT_THAT(served, fails_with(Code::resource_exhausted));
  }
}

TEST(HttpServerTest, APeerThatGoesOnSendingStillReadsItsRefusal) {
  with_server({.body_bytes_max = 100}, [](Stream& client) {
    const std::string body(300'000, 'x');
    EXPECT_TRUE(send_text(client, "POST / HTTP/1.1\r\nContent-Length: 300000\r\n\r\n"));
    EXPECT_TRUE(send_text(client, body));
    client.finish_writing();
    EXPECT_THAT(read_all(client).value_or("lost"),
                StartsWith("HTTP/1.1 413 Payload Too Large\r\n"));
  });
}

TEST(HttpServerTest, AnEndlessLineBetweenChunksIsRefused) {
  const std::string request =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(20'000, 'x');
  EXPECT_THAT(answer_to(request), StartsWith("HTTP/1.1 4"));
}

TEST(HttpServerTest, ASlowRequestIsCutOffByItsLimit) {
  const HttpOptions options{.request_time_max = 5ms};
  for (const char* part :
       {"G", "GET / HTTP/1.1\r\nHost:", "POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf"}) {
    Result<void> served;
    EXPECT_THAT(answer_to(part, options, &served), StartsWith("HTTP/1.1 408 Request Timeout\r\n"));
    EXPECT_THAT(served, fails_with(Code::deadline_exceeded));
  }
}

TEST(HttpServerTest, AnIdlePeerIsLetGo) {
  Result<void> served = Error(Code::unknown, "not served");
  EXPECT_EQ(answer_to("", {.idle_time_max = 1ms}, &served), "");
  EXPECT_TRUE(served) << served;
}

TEST(HttpServerTest, APeerThatLeavesInTheMiddleIsAnError) {
  run_on_real_loop([](RealLoop& real) {
    Result<void> served;
    with_server(real, {}, served, [](Stream& client) {
      EXPECT_TRUE(send_text(client, "GET / HT"));
      client.finish_writing();
      EXPECT_EQ(read_all(client).value_or(""), "");
    });
    EXPECT_THAT(served, fails_with(Code::unavailable));
  });
}

TEST(HttpServerTest, APeerThatLeavesBetweenRequestsIsFine) {
  Result<void> served = Error(Code::unknown, "not served");
  run_on_real_loop([&](RealLoop& real) { with_server(real, {}, served, [](Stream&) {}); });
  EXPECT_TRUE(served) << served;
}

TEST(HttpServerTest, ServingEndsByCancellation) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    auto server = coroutine::spawn("server", [&] { return serve_http(*pair->server, echo); });
    EXPECT_TRUE(send_text(*pair->client, "GET /hello?a HTTP/1.1\r\nHost: test\r\n\r\n"));
    EXPECT_EQ(read_exactly(*pair->client, hello_response.size()).value_or(""), hello_response);
    server.cancel();
    EXPECT_THAT(server.join(soon()), fails_with(Code::cancelled));
  });
}

TEST(HttpServerTest, CurlUnderstandsIt) {
  if (std::system("curl --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "curl is missing";
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    const std::string url = "http://" + to_string((*listener)->local_endpoint());
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
    auto server = coroutine::spawn("server", [&]() -> Result<void> {
      auto stream = (*listener)->accept(soon());
      if (!stream) return stream.error();
      return serve_http(**stream, echo);
    });
    EXPECT_TRUE(done.wait(soon()));
    curl.join();
    EXPECT_THAT(printed, StartsWith("POST /one [0123456789]HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(printed, EndsWith("GET /two []"));
    EXPECT_TRUE(server.join(soon())) << "both requests came on one connection";
  });
}

}  // namespace
}  // namespace corolane::net
