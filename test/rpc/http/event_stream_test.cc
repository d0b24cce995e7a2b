// SPDX-License-Identifier: MIT
// Streams that a browser's EventSource reads, on the simulated network and in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "net/http/http_lines.h"
#include "net/http/http_server.h"
#include "rpc/http/http_face.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view count_path = "/corolane.test.Echo/Count?connect=v1&encoding=json";

// What EventSource sends, and a deadline that it cannot send.
const net::HttpHeaders asks_for_events = {{"Accept", "text/event-stream"},
                                          {"Connect-Timeout-Ms", "3600000"}};

std::string count_target(std::string_view message, std::string_view rest = "") {
  return std::string(count_path).append("&message=").append(message).append(rest);
}

// Counts like Echo after a while, and with texts that hold all that ends a line.
class LinesEcho final : public EchoService {
 public:
  Result<void> count(const CountRequest& request, rpc::Writer<CountReply>& out,
                     rpc::Context& context) override {
    if (auto slept = coroutine::sleep_for(before_first); !slept) return slept.error();
    if (text.empty()) return EchoService::count(request, out, context);
    CountReply reply;
    reply.set_text(text);
    return out.write(reply);
  }

  Duration before_first{};
  std::string text;
};

// A stream whose .proto promises nothing about its effects.
class Unpromised final : public rpc::Service {
 public:
  const char* service_name() const override { return "corolane.test.Unpromised"; }
  std::span<const rpc::Method> methods() const override { return {&method_, 1}; }

 private:
  static rpc::Method make_method() {
    rpc::Method method = echo_method("Count");
    method.full_name = "corolane.test.Unpromised/Count";
    method.id = rpc::method_id(method.full_name);
    return method;
  }

  const rpc::Method method_ = make_method();
};

class EventStreamTest : public testing::Test {
 protected:
  EventStreamTest() {
    check(server_.add(echo_).has_value() && server_.add(unpromised_).has_value(),
          "they can be added");
  }

  // Call it before the first request, if at all.
  void serve(rpc::HttpFace::Options options = {.door = rpc::Door::nodes}) {
    face_.emplace(server_, std::move(options));
    http_.emplace(network_, *face_, net::HttpServer::Options{.sends_date = false});
    endpoint_ = http_->listen({"server", 0}).value_or(net::Endpoint{});
  }

  net::HttpResponse fetch(const net::HttpRequest& request) {
    if (!http_) serve();
    auto response =
        net::fetch_http(network_, {"server", endpoint_.port}, request, Deadline::after(1h));
    EXPECT_TRUE(response) << response;
    return response.value_or(net::HttpResponse{.status = 0});
  }
  net::HttpResponse get(std::string target, net::HttpHeaders headers = asks_for_events) {
    return fetch({.target = std::move(target), .headers = std::move(headers)});
  }

  // A client that has asked for a stream and read nothing of it.
  std::unique_ptr<net::Stream> ask(const std::string& target, std::string_view version = "1.1") {
    if (!http_) serve();
    auto stream = network_.connect({"server", endpoint_.port}, Deadline::after(1s)).value();
    std::string text = "GET " + target + " HTTP/" + std::string(version) + "\r\nHost: h\r\n";
    for (const auto& [name, value] : asks_for_events) {
      text.append(name).append(": ").append(value).append("\r\n");
    }
    EXPECT_TRUE(stream->try_write(net::bytes_of(text + "\r\n")));
    return stream;
  }
  static std::string read_some(net::Stream& stream) {
    std::array<std::byte, 4096> buffer;
    const auto size = stream.read_some(buffer, Deadline::after(1s));
    return size ? std::string(net::text_of(std::span(buffer).first(*size))) : std::string();
  }

  // The lines that are not empty, each behind the second in which it came.
  std::vector<std::string> read_timed(const std::string& target) {
    if (!http_) serve();
    const TimePoint start = now();
    auto lines =
        net::HttpLines::open(network_, {"server", endpoint_.port},
                             {.target = target, .headers = asks_for_events}, Deadline::after(1min));
    EXPECT_TRUE(lines) << lines;
    std::vector<std::string> all;
    while (lines) {
      const auto line = lines->next_line(Deadline::after(1min));
      if (!line) break;
      if (line->empty()) continue;
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now() - start).count();
      all.push_back(std::to_string(seconds).append(" ").append(*line));
    }
    return all;
  }

  sim::SimulatedNetwork network_;
  LinesEcho echo_;
  Unpromised unpromised_;
  rpc::Server server_{network_};
  std::optional<rpc::HttpFace> face_;
  std::optional<net::HttpServer> http_;
  net::Endpoint endpoint_;
};

TEST_F(EventStreamTest, MessagesAndTheEndAreEvents) {
  const auto response = get(count_target("%7B%22count%22%3A3%7D"));
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.content_type, "text/event-stream");
  EXPECT_EQ(response.headers.find("Cache-Control"), "no-store");
  EXPECT_EQ(response.body,
            "data: {}\n\n"
            "data: {\"number\":1}\n\n"
            "data: {\"number\":2}\n\n"
            "event: end\ndata: {}\n\n");
}

TEST_F(EventStreamTest, MessageOfTheRequestMayBeInBase64) {
  // {"count":1}
  EXPECT_EQ(get(count_target("eyJjb3VudCI6MX0", "&base64=1")).body,
            "data: {}\n\nevent: end\ndata: {}\n\n");
}

TEST_F(EventStreamTest, ALineEndInsideOfAMessageIsEscaped) {
  echo_.text = "a\nb\r\nc\rd";
  EXPECT_EQ(get(count_target("{}")).body,
            "data: {\"text\":\"a\\nb\\u000d\\nc\\u000dd\"}\n\nevent: end\ndata: {}\n\n");
}

TEST_F(EventStreamTest, AnErrorIsTheLastEvent) {
  const auto response = get(count_target("%7B%22count%22%3A1%2C%22errorCode%22%3A5%7D"));
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.body,
            "data: {}\n\n"
            "event: failure\n"
            "data: {\"code\":\"not_found\",\"message\":\"as was asked for\"}\n\n");
}

TEST_F(EventStreamTest, TheLastEventHasTheTrailers) {
  server_.add_filter([](rpc::Context& call, const rpc::Next& next) {
    call.reply_trailers().add("seen", "all");
    return next();
  });
  EXPECT_EQ(get(count_target("{}")).body,
            "event: end\ndata: {\"metadata\":{\"seen\":[\"all\"]}}\n\n");
  EXPECT_THAT(get(count_target("%7B%22errorCode%22%3A5%7D")).body,
              EndsWith(",\"metadata\":{\"seen\":[\"all\"]}}\n\n"));
}

TEST_F(EventStreamTest, CallThatIsRefusedIsAFailure) {
  const auto malformed = get(count_target("%7B"));
  EXPECT_EQ(malformed.status, 200u);
  EXPECT_EQ(malformed.content_type, "text/event-stream");
  EXPECT_THAT(malformed.body, StartsWith("event: failure\ndata: {\"code\":\"invalid_argument\""));
  EXPECT_TRUE(server_.stop(Deadline::after(1s)));
  EXPECT_THAT(get(count_target("{}")).body,
              StartsWith("event: failure\ndata: {\"code\":\"unavailable\""));
}

TEST_F(EventStreamTest, ASilentStreamHasComments) {
  EXPECT_THAT(read_timed(count_target("%7B%22count%22%3A2%2C%22milliseconds%22%3A40000%7D")),
              ElementsAre("0 data: {}", "15 : ", "30 : ", "40 data: {\"number\":1}",
                          "55 : ", "70 : ", "80 event: end", "80 data: {}"));
}

TEST_F(EventStreamTest, AStreamThatHasNothingToSayYetIsOpenAfterASecond) {
  echo_.before_first = 20s;
  EXPECT_THAT(read_timed(count_target("%7B%22count%22%3A1%7D")),
              ElementsAre("1 : ", "16 : ", "20 data: {}", "20 event: end", "20 data: {}"));
  // An error comes in the same way then.
  EXPECT_THAT(read_timed(count_target("%7B%22errorCode%22%3A5%7D")),
              ElementsAre("1 : ", "16 : ", "20 event: failure",
                          "20 data: {\"code\":\"not_found\",\"message\":\"as was asked for\"}"));
}

TEST_F(EventStreamTest, AClientOfHttp10ReadsToTheEndOfTheConnection) {
  echo_.before_first = 2s;
  const auto client = ask(count_target("%7B%22count%22%3A1%7D"), "1.0");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_THAT(read_some(*client), EndsWith("\r\n\r\n: \n\ndata: {}\n\nevent: end\ndata: {}\n\n"));
  EXPECT_EQ(read_some(*client), "");
}

TEST_F(EventStreamTest, AClientThatLeavesCancelsItsCall) {
  const auto client = ask(count_target("%7B%22count%22%3A100%2C%22milliseconds%22%3A60000%7D"));
  ASSERT_TRUE(coroutine::sleep_for(20s));
  EXPECT_THAT(read_some(*client), EndsWith("\r\na\r\ndata: {}\n\n\r\n4\r\n: \n\n\r\n"));
  EXPECT_EQ(server_.statistics().stream_count, 1u);
  client->close();
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(server_.statistics().stream_count, 0u);
  EXPECT_EQ(echo_.cancelled_count, 1);
}

TEST_F(EventStreamTest, AServerThatStopsEndsItWithAFailure) {
  auto stream = coroutine::spawn("stream", [&] {
    return get(count_target("%7B%22count%22%3A100%2C%22milliseconds%22%3A60000%7D")).body;
  });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const TimePoint begun = now();
  EXPECT_TRUE(server_.stop(Deadline::after(1h)));
  EXPECT_LT(now() - begun, 2s);
  EXPECT_THAT(stream.join(Deadline::never()).value(),
              StartsWith("data: {}\n\nevent: failure\ndata: {\"code\":\"unavailable\""));
}

TEST_F(EventStreamTest, AClientThatReadsNothingHoldsBoundedOutput) {
  const auto client = ask(
      count_target("%7B%22count%22%3A1000000%2C%22size%22%3A10000%2C%22milliseconds%22%3A1%7D"));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const std::uint32_t written_count = echo_.written_count;
  EXPECT_GT(written_count, 10u);
  EXPECT_LT(written_count, 300u);
  const auto unsent_bytes = [&] {
    std::size_t bytes = 0;
    http_->for_each_connection([&](const net::HttpServer::ConnectionView& connection) {
      bytes += connection.stream.statistics().unsent_bytes;
    });
    return bytes;
  };
  const std::size_t unsent_before = unsent_bytes();
  ASSERT_TRUE(coroutine::sleep_for(1min));
  EXPECT_EQ(echo_.written_count, written_count);
  EXPECT_EQ(unsent_bytes(), unsent_before);  // No comments queue up either.

  std::string received;
  while (received.size() < 3'000'000) {
    const std::string some = read_some(*client);
    ASSERT_FALSE(some.empty());
    received += some;
  }
  EXPECT_GT(echo_.written_count, written_count);
  EXPECT_THAT(received, Not(HasSubstr(": \n\n")));
  client->close();
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(server_.statistics().stream_count, 0u);
  EXPECT_EQ(echo_.cancelled_count, 1);
}

TEST_F(EventStreamTest, StreamByGetIsReadAsEventsAlone) {
  for (const char* const type : {"", "*/*", "application/json", "text/event-streams"}) {
    const auto refused = get(count_target("{}"), {{"Accept", type}});
    EXPECT_EQ(refused.status, 406u) << type;
    EXPECT_THAT(refused.body, HasSubstr("Accept: text/event-stream")) << type;
  }
  EXPECT_EQ(get(count_target("{}"), {{"Accept", "text/html, text/event-stream;q=0.5"}}).status,
            200u);
  const auto binary = get("/corolane.test.Echo/Count?encoding=proto&message=");
  EXPECT_EQ(binary.status, 400u);
  EXPECT_THAT(binary.body, HasSubstr("encoding is json"));
}

TEST_F(EventStreamTest, StreamWithSideEffectsIsNotReadByGet) {
  const auto refused = get("/corolane.test.Unpromised/Count?encoding=json&message={}");
  EXPECT_EQ(refused.status, 405u);
  EXPECT_EQ(refused.headers.find("Allow"), "POST");
}

TEST_F(EventStreamTest, OtherRequestsStayAsTheyAre) {
  const auto head =
      fetch({.method = "HEAD", .target = count_target("{}"), .headers = asks_for_events});
  EXPECT_EQ(head.status, 405u);
  EXPECT_EQ(head.headers.find("Allow"), "GET, POST");
  const auto unary =
      fetch({.method = "POST",
             .target = "/corolane.test.Echo/Echo",
             .body = R"({"text":"hello"})",
             .headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}}});
  EXPECT_EQ(unary.content_type, "application/json");
  EXPECT_EQ(unary.body, R"({"text":"hello"})");
  const auto stream = fetch(
      {.method = "POST",
       .target = "/corolane.test.Echo/Count",
       .body = std::string("\0\0\0\0\2{}", 7),
       .headers = {{"Content-Type", "application/connect+json"}, {"Accept", "text/event-stream"}}});
  EXPECT_EQ(stream.content_type, "application/connect+json");
  EXPECT_EQ(stream.body, std::string("\2\0\0\0\2{}", 7));
  EXPECT_EQ(stream.headers.find("Cache-Control"), "");
}

TEST_F(EventStreamTest, PagesOfOtherOriginsDoNotSeeIt) {
  serve({.door = rpc::Door::nodes, .origins = {"https://game.example"}});
  net::HttpHeaders headers = asks_for_events;
  headers.add("Origin", "https://game.example");
  const auto allowed = get(count_target("{}"), headers);
  EXPECT_EQ(allowed.headers.find("Access-Control-Allow-Origin"), "https://game.example");
  EXPECT_EQ(allowed.headers.find("Vary"), "Origin");
  headers = asks_for_events;
  headers.add("Origin", "https://other.example");
  EXPECT_EQ(get(count_target("{}"), headers).headers.find("Access-Control-Allow-Origin"), "");
}

TEST_F(EventStreamTest, TheQueryNamesTheCalledObject) {
  std::string id;
  server_.add_filter([&](rpc::Context& call, const rpc::Next& next) {
    id = call.object() == nullptr ? "none" : call.object()->id;
    return next();
  });
  EXPECT_EQ(get(count_target("{}", "&corolane-object=a%25b+c")).status, 200u);
  EXPECT_EQ(id, "a%b c");
  EXPECT_EQ(get(count_target("{}")).status, 200u);
  EXPECT_EQ(id, "none");
  EXPECT_THAT(get(count_target("{}", "&corolane-object=%2")).body,
              StartsWith("event: failure\ndata: {\"code\":\"invalid_argument\""));
}

class EventLoginTest : public EventStreamTest {
 protected:
  EventLoginTest() {
    server_.add_filter([this](rpc::Context& call, const rpc::Next& next) {
      principal_ = call.principal().id;
      for (const auto& [name, value] : call.headers()) seen_.append(value).append("\n");
      seen_.append(call.peer());
      return next();
    });
    serve({.door = rpc::Door::nodes,
           .login = [](std::string_view token, const rpc::LoginPeer&) -> Result<rpc::Principal> {
             if (token.empty()) return rpc::Principal{.id = "nobody"};
             if (!token.starts_with("secret ")) {
               return Error(Code::unauthenticated, "the token is unknown");
             }
             return rpc::Principal{.id = std::string(token.substr(7))};
           }});
  }

  std::string principal_;
  std::string seen_;  // All that a handler or an observer learns from the request.
};

TEST_F(EventLoginTest, TheQueryHasTheToken) {
  const auto response = get(count_target("{}", "&access_token=secret%20ada"));
  EXPECT_EQ(response.body, "event: end\ndata: {}\n\n");
  EXPECT_EQ(response.headers.find("Cache-Control"), "no-store");
  EXPECT_EQ(principal_, "ada");
  EXPECT_THAT(seen_, Not(HasSubstr("secret")));
  EXPECT_EQ(get(count_target("{}")).status, 200u);
  EXPECT_EQ(principal_, "nobody");
}

TEST_F(EventLoginTest, AnUnknownTokenIsAFailureThatDoesNotRepeatIt) {
  for (const char* const token : {"mallory%20m", "mallory%2"}) {
    const auto refused = get(count_target("{}", std::string("&access_token=") + token));
    EXPECT_THAT(refused.body, StartsWith("event: failure\ndata: {\"code\":\"unauthenticated\""));
    EXPECT_THAT(refused.body, Not(HasSubstr("mallory")));
    EXPECT_EQ(refused.headers.find("Cache-Control"), "no-store");
  }
}

TEST_F(EventLoginTest, TheHeaderComesBeforeTheQuery) {
  net::HttpHeaders headers = asks_for_events;
  headers.add("Authorization", "Bearer secret bob");
  EXPECT_EQ(get(count_target("{}", "&access_token=secret%20ada"), headers).status, 200u);
  EXPECT_EQ(principal_, "bob");
}

TEST_F(EventLoginTest, APostHasNoTokenInItsQuery) {
  const auto response = fetch({.method = "POST",
                               .target = "/corolane.test.Echo/Echo?access_token=secret%20ada",
                               .body = "{}",
                               .headers = {{"Content-Type", "application/json"}}});
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.headers.find("Cache-Control"), "");
  EXPECT_EQ(principal_, "nobody");
}

}  // namespace
}  // namespace corolane::test
