// SPDX-License-Identifier: MIT
// The services over HTTP, on the simulated network and in virtual time.
#include "rpc/http/http_face.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/http/gzip.h"
#include "net/http/http_server.h"
#include "test/rpc/codegen/diary.corolane.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/mirror_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class HttpFaceTest : public testing::Test {
 protected:
  HttpFaceTest() {
    check(server_.add(echo_).has_value() && server_.add(mirror_).has_value(), "they can be added");
  }

  // Call it before the first request, if at all.
  void serve(rpc::HttpFace::Options options = {.door = rpc::Door::nodes}) {
    serve_from(server_, std::move(options));
  }
  // A server that is destroyed before this fixture is stopped by stop().
  void serve_from(rpc::Server& server,
                  rpc::HttpFace::Options options = {.door = rpc::Door::nodes}) {
    face_.emplace(server, std::move(options));
    http_.emplace(network_, *face_, net::HttpServer::Options{.sends_date = false});
    endpoint_ = http_->listen({"server", 0}).value_or(net::Endpoint{});
  }

  void stop() {
    http_.reset();
    face_.reset();
  }

  net::HttpResponse fetch(const net::HttpRequest& request) {
    if (!http_) serve();
    auto response =
        net::fetch_http(network_, {"server", endpoint_.port}, request, Deadline::after(1min));
    EXPECT_TRUE(response) << response;
    return response.value_or(net::HttpResponse{.status = 0});
  }

  net::HttpResponse post(const std::string& method, std::string body,
                         net::HttpHeaders headers = {}) {
    if (headers.find("Content-Type").empty()) headers.add("Content-Type", "application/json");
    return fetch({.method = "POST",
                  .target = "/corolane.test." + method,
                  .body = std::move(body),
                  .headers = std::move(headers)});
  }

  sim::SimulatedNetwork network_;
  EchoService echo_;
  MirrorService mirror_;
  rpc::Server server_{network_};
  std::optional<rpc::HttpFace> face_;
  std::optional<net::HttpServer> http_;
  net::Endpoint endpoint_;
};

TEST_F(HttpFaceTest, AnswersJsonWithJson) {
  const auto response =
      post("Echo/Echo", R"({"text":"hello"})", {{"Connect-Protocol-Version", "1"}});
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, R"({"text":"hello"})");
}

TEST_F(HttpFaceTest, AnswersProtoWithProto) {
  const auto response = post("Echo/Echo", make_echo("hello").SerializeAsString(),
                             {{"Content-Type", "application/proto"}});
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.content_type, "application/proto");
  EchoReply reply;
  EXPECT_TRUE(reply.ParseFromString(response.body));
  EXPECT_EQ(reply.text(), "hello");
}

TEST_F(HttpFaceTest, ErrorsHaveTheStatusAndTheNameOfTheirCode) {
  constexpr std::pair<unsigned, const char*> expected[] = {{499, "canceled"},
                                                           {500, "unknown"},
                                                           {400, "invalid_argument"},
                                                           {504, "deadline_exceeded"},
                                                           {404, "not_found"},
                                                           {409, "already_exists"},
                                                           {403, "permission_denied"},
                                                           {429, "resource_exhausted"},
                                                           {400, "failed_precondition"},
                                                           {409, "aborted"},
                                                           {400, "out_of_range"},
                                                           {501, "unimplemented"},
                                                           {500, "internal"},
                                                           {503, "unavailable"},
                                                           {500, "data_loss"},
                                                           {401, "unauthenticated"}};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const auto response =
        post("Echo/Fail", "{\"code\":" + std::to_string(i + 1) + R"(,"text":"so \"it\" is"})");
    EXPECT_EQ(response.status, expected[i].first);
    EXPECT_EQ(response.content_type, "application/json");
    EXPECT_EQ(response.body,
              "{\"code\":\"" + std::string(expected[i].second) + R"(","message":"so \"it\" is"})");
  }
}

TEST_F(HttpFaceTest, RetryAfterIsAHeader) {
  const auto response = post("Echo/Fail", R"({"code":8,"retryAfterMs":"1200"})");
  EXPECT_EQ(response.status, 429u);
  EXPECT_EQ(response.headers.find("Retry-After"), "2");
}

TEST_F(HttpFaceTest, HeaderSaysThatAHandlerHasNotBegun) {
  echo_.echo_errors = {Error(Code::unavailable, "my own").with_not_executed()};
  auto response = post("Echo/Echo", "{}");
  EXPECT_EQ(response.status, 503u);
  EXPECT_EQ(response.headers.find("Corolane-Executed"), "");
  EXPECT_EQ(response.headers.find("Corolane-Error-From"), "handler");
  EXPECT_TRUE(server_.stop(Deadline::after(1s)));
  response = post("Echo/Echo", "{}");
  EXPECT_EQ(response.status, 503u);
  EXPECT_EQ(response.headers.find("Corolane-Executed"), "no");
  EXPECT_EQ(response.headers.find("Corolane-Error-From"), "");
}

TEST_F(HttpFaceTest, AnInvalidMessageIsRefused) {
  const auto json = post("Echo/Echo", R"({"text":7})");
  EXPECT_EQ(json.status, 400u);
  EXPECT_EQ(json.body, R"({"code":"invalid_argument","message":"text: expects a string, not 7"})");
  const auto proto = post("Echo/Echo", "\xff\xff", {{"Content-Type", "application/proto"}});
  EXPECT_EQ(proto.status, 400u);
  EXPECT_THAT(proto.body, HasSubstr("not a valid corolane.test.EchoRequest"));
  EXPECT_EQ(post("Echo/Echo", "").status, 400u);
}

TEST_F(HttpFaceTest, AnUnknownMethodIsA404) {
  for (const char* method : {"Echo/Nothing", "Nothing/Echo", "Echo", "Echo/Echo/"}) {
    const auto response = post(method, "{}");
    EXPECT_EQ(response.status, 404u) << method;
    EXPECT_THAT(response.body, HasSubstr(R"({"code":"unimplemented","message":"no method )"));
  }
}

TEST_F(HttpFaceTest, AnotherTypeIsA415) {
  for (const char* type : {"text/plain", "application/jsonx", "application/grpc", "x"}) {
    const auto response = post("Echo/Echo", "{}", {{"Content-Type", type}});
    EXPECT_EQ(response.status, 415u) << type;
    EXPECT_EQ(response.headers.find("Accept-Post"), "application/json, application/proto");
  }
  EXPECT_EQ(post("Echo/Echo", "{}", {{"Content-Type", "application/json; charset=utf-8"}}).status,
            200u);
  EXPECT_EQ(post("Echo/Echo", "{}", {{"Content-Type", "Application/JSON"}}).status, 200u);
}

TEST_F(HttpFaceTest, AnotherVerbIsA405) {
  for (const char* verb : {"GET", "PUT", "DELETE", "HEAD"}) {
    const auto response = fetch({.method = verb, .target = "/corolane.test.Echo/Echo"});
    EXPECT_EQ(response.status, 405u) << verb;
    EXPECT_EQ(response.headers.find("Allow"), "POST");
  }
  EXPECT_EQ(fetch({.method = "POST", .target = "/"}).status, 405u);
}

TEST_F(HttpFaceTest, OtherVersionsAndEncodingsAreRefused) {
  EXPECT_EQ(post("Echo/Echo", "{}", {{"Connect-Protocol-Version", "2"}}).status, 400u);
  const auto brotli = post("Echo/Echo", "{}", {{"Content-Encoding", "br"}});
  EXPECT_EQ(brotli.status, 501u);
  EXPECT_THAT(brotli.body, HasSubstr("only gzip and identity"));
  EXPECT_EQ(post("Echo/Echo", "{}", {{"Content-Encoding", "identity"}}).status, 200u);
}

TEST_F(HttpFaceTest, TheTimeoutIsTheDeadlineOfTheCall) {
  const TimePoint start = now();
  const auto response =
      post("Echo/Sleep", R"({"milliseconds":"30000"})", {{"Connect-Timeout-Ms", "250"}});
  EXPECT_EQ(response.status, 504u);
  EXPECT_THAT(response.body, HasSubstr("deadline_exceeded"));
  EXPECT_LT(now() - start, 300ms);
  EXPECT_EQ(echo_.cancelled_count, 1);
  // Without the header the timeout of the method applies.
  EXPECT_EQ(post("Echo/Sleep", R"({"milliseconds":"30000"})").status, 504u);
  EXPECT_LT(now() - start, 4s);
}

TEST_F(HttpFaceTest, AnInvalidTimeoutIsRefused) {
  for (const char* timeout : {"-1", "1s", "1.5", "12345678901", "x"}) {
    const auto response = post("Echo/Echo", "{}", {{"Connect-Timeout-Ms", timeout}});
    EXPECT_EQ(response.status, 400u) << timeout;
    EXPECT_THAT(response.body, HasSubstr("Connect-Timeout-Ms"));
  }
  EXPECT_EQ(post("Echo/Echo", "{}", {{"Connect-Timeout-Ms", "9999999999"}}).status, 200u);
}

TEST_F(HttpFaceTest, TheTraceIsPassedOn) {
  rpc::TraceContext trace;
  std::string peer;
  server_.add_filter([&](rpc::Context& call, const rpc::Next& next) {
    trace = call.trace();
    peer = call.peer();
    return next();
  });
  const std::string id = "0af7651916cd43dd8448eb211c80319c";
  EXPECT_EQ(post("Echo/Echo", "{}", {{"traceparent", "00-" + id + "-b7ad6b7169203331-01"}}).status,
            200u);
  EXPECT_EQ(trace.span_id, 0xb7ad6b7169203331u);
  EXPECT_EQ(trace.trace_id[1], std::byte{0xf7});
  EXPECT_TRUE(trace.is_sampled);
  EXPECT_THAT(peer, HasSubstr("client:"));
  EXPECT_EQ(post("Echo/Echo", "{}", {{"traceparent", "no"}}).status, 200u);
  EXPECT_FALSE(trace.is_valid());
}

TEST_F(HttpFaceTest, AHeaderNamesTheCalledObject) {
  std::vector<std::string> ids;
  server_.add_filter([&](rpc::Context& call, const rpc::Next& next) {
    ids.emplace_back(call.object() == nullptr ? "none" : call.object()->id);
    return next();
  });
  for (const char* id : {"visits", "a+b c", "50%25", "%00%fF%41", "", "h%c3%A9"}) {
    EXPECT_EQ(post("Echo/Echo", "{}", {{"Corolane-Object", id}}).status, 200u) << id;
  }
  EXPECT_EQ(post("Echo/Echo", "{}").status, 200u);
  EXPECT_EQ(ids, (std::vector<std::string>{"visits", "a+b c", "50%", std::string("\0\xff\x41", 3),
                                           "none", "h\u00e9", "none"}));
}

TEST_F(HttpFaceTest, AnObjectWhoseIdIsCutOffIsRefused) {
  for (const char* id : {"50%", "50%2", "50%2x", "%-1", "%%"}) {
    const auto response = post("Echo/Echo", "{}", {{"Corolane-Object", id}});
    EXPECT_EQ(response.status, 400u) << id;
    EXPECT_THAT(response.body, HasSubstr("Corolane-Object is percent-encoded")) << id;
  }
  EXPECT_TRUE(echo_.echoed.empty());
}

TEST_F(HttpFaceTest, AFilterMayRefuse) {
  server_.add_filter([](rpc::Context&, const rpc::Next&) -> Result<void> {
    return Error(Code::unauthenticated, "who are you?");
  });
  EXPECT_EQ(post("Echo/Echo", "{}").status, 401u);
  EXPECT_TRUE(echo_.echoed.empty());
}

TEST_F(HttpFaceTest, AClientThatDisconnectsCancelsItsCall) {
  serve();
  auto caller = coroutine::spawn("caller", [&] {
    return net::fetch_http(network_, {"server", endpoint_.port},
                           {.method = "POST",
                            .target = "/corolane.test.Echo/Sleep",
                            .body = R"({"milliseconds":"20000"})",
                            .headers = {{"Content-Type", "application/json"}}},
                           Deadline::after(1min));
  });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(echo_.sleeping_count, 1);
  caller.cancel();
  EXPECT_FALSE(caller.join(Deadline::never()));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(echo_.cancelled_count, 1);
}

TEST_F(HttpFaceTest, OneWayMethodsAreAnsweredWhenTheyHaveEnded) {
  const auto response = post("Echo/Note", R"({"text":"kept"})");
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.body, "{}");
  EXPECT_EQ(echo_.noted, (std::vector<std::string>{"kept"}));
}

// The envelopes of a stream: flags and content.
std::vector<std::pair<int, std::string>> envelopes_of(std::string_view body) {
  std::vector<std::pair<int, std::string>> envelopes;
  while (body.size() >= 5) {
    std::size_t size = 0;
    for (const char byte : body.substr(1, 4)) size = size << 8 | static_cast<unsigned char>(byte);
    if (body.size() < 5 + size) break;
    envelopes.emplace_back(body[0], body.substr(5, size));
    body.remove_prefix(5 + size);
  }
  EXPECT_TRUE(body.empty()) << "cut off";
  return envelopes;
}

std::string envelope(std::string_view message) {
  std::string text("\0\0\0\0", 4);
  text += static_cast<char>(message.size());
  return text.append(message);
}

const net::HttpHeaders json_stream = {{"Content-Type", "application/connect+json"}};

TEST_F(HttpFaceTest, AStreamIsAnsweredInEnvelopes) {
  const auto response =
      post("Echo/Count", envelope(R"({"count":3,"milliseconds":"50"})"), json_stream);
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.content_type, "application/connect+json");
  EXPECT_EQ(envelopes_of(response.body),
            (std::vector<std::pair<int, std::string>>{
                {0, "{}"}, {0, R"({"number":1})"}, {0, R"({"number":2})"}, {2, "{}"}}));

  CountRequest request;
  request.set_count(2);
  const auto proto = post("Echo/Count", envelope(request.SerializeAsString()),
                          {{"Content-Type", "application/connect+proto"}});
  const auto envelopes = envelopes_of(proto.body);
  ASSERT_EQ(envelopes.size(), 3u);
  CountReply reply;
  EXPECT_TRUE(reply.ParseFromString(envelopes[1].second));
  EXPECT_EQ(reply.number(), 1u);
  EXPECT_EQ(envelopes[2], (std::pair<int, std::string>{2, "{}"}));
}

TEST_F(HttpFaceTest, AnErrorOfAStreamIsInItsLastEnvelope) {
  const auto late = post("Echo/Count", envelope(R"({"count":1,"errorCode":5})"), json_stream);
  EXPECT_EQ(late.status, 200u);
  EXPECT_EQ(envelopes_of(late.body),
            (std::vector<std::pair<int, std::string>>{
                {0, "{}"}, {2, R"({"error":{"code":"not_found","message":"as was asked for"}})"}}));
  const std::pair<std::string, const char*> malformed[] = {
      {"", "unimplemented"},
      {envelope("{}") + envelope("{}"), "unimplemented"},
      {envelope("{"), "invalid_argument"},
      {envelope("{}").substr(0, 6), "invalid_argument"},
      {"\x04" + envelope("{}").substr(1), "invalid_argument"},
      {"\x01" + envelope("{}").substr(1), "internal"}};
  for (const auto& [body, code] : malformed) {
    const auto refused = post("Echo/Count", body, json_stream);
    EXPECT_EQ(refused.status, 200u);
    const auto envelopes = envelopes_of(refused.body);
    ASSERT_EQ(envelopes.size(), 1u);
    EXPECT_EQ(envelopes[0].first, 2);
    EXPECT_THAT(envelopes[0].second,
                testing::StartsWith(R"({"error":{"code":")" + std::string(code) + "\""));
  }
}

TEST_F(HttpFaceTest, RequestsAndRepliesMayBeCompressed) {
  const auto zipped = [](std::string_view content) {
    std::string result;
    net::gzip(content, result);
    return result;
  };
  const auto opened = [](std::string_view content) {
    std::string result;
    EXPECT_TRUE(net::gunzip(content, 100'000, result));
    return result;
  };
  serve({.door = rpc::Door::nodes, .request_bytes_max = 20'000});
  const std::string text = R"({"text":")" + std::string(10'000, 'x') + "\"}";
  const net::HttpHeaders headers = {{"Content-Type", "application/json"},
                                    {"Content-Encoding", "gzip"},
                                    {"Accept-Encoding", "br, gzip;q=0.5"}};
  const auto unary = post("Echo/Echo", zipped(text), headers);
  EXPECT_EQ(unary.status, 200u);
  EXPECT_EQ(unary.headers.find("Content-Encoding"), "gzip");
  EXPECT_EQ(opened(unary.body), text);
  const auto small = post("Echo/Echo", zipped("{}"), headers);
  EXPECT_EQ(small.headers.find("Content-Encoding"), "");
  EXPECT_EQ(small.body, "{}");
  EXPECT_EQ(post("Echo/Echo", "{}", headers).status, 400u);
  EXPECT_EQ(post("Echo/Echo", zipped(std::string(30'000, ' ')), headers).status, 429u);

  const std::string request = zipped(R"({"count":2,"size":2000})");
  std::string body("\x01\0\0\0", 4);
  body += static_cast<char>(request.size());
  const auto stream = post("Echo/Count", body + request,
                           {{"Content-Type", "application/connect+json"},
                            {"Connect-Content-Encoding", "gzip"},
                            {"Connect-Accept-Encoding", "gzip"}});
  EXPECT_EQ(stream.headers.find("Connect-Content-Encoding"), "gzip");
  const auto envelopes = envelopes_of(stream.body);
  ASSERT_EQ(envelopes.size(), 3u);
  EXPECT_EQ(envelopes[1].first, 1);
  EXPECT_THAT(opened(envelopes[1].second), testing::StartsWith(R"({"number":1,"text":"xxx)"));
  EXPECT_EQ(envelopes[2], (std::pair<int, std::string>{2, "{}"}));
}

TEST_F(HttpFaceTest, AStreamIsReadBeforeItHasEnded) {
  serve();
  auto stream = network_.connect({"server", endpoint_.port}, Deadline::after(1s));
  ASSERT_TRUE(stream);
  const std::string body = envelope(R"({"count":100,"milliseconds":"60000"})");
  const std::string request =
      "POST /corolane.test.Echo/Count HTTP/1.1\r\nHost: h\r\n"
      "Content-Type: application/connect+json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  ASSERT_TRUE((*stream)->try_write(net::bytes_of(request)));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  std::array<std::byte, 1024> buffer;
  const auto size = (*stream)->read_some(buffer, Deadline::after(1s));
  ASSERT_TRUE(size);
  EXPECT_THAT(std::string(net::text_of(std::span(buffer).first(*size))),
              testing::EndsWith(std::string("\r\n7\r\n\0\0\0\0\x02{}\r\n", 14)));
  EXPECT_EQ(server_.statistics().stream_count, 1u);
  (*stream)->close();
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(server_.statistics().stream_count, 0u);
  EXPECT_EQ(echo_.cancelled_count, 1);
}

TEST_F(HttpFaceTest, AServerThatStopsEndsStreamsAtOnce) {
  serve();
  auto stream = coroutine::spawn("stream", [&] {
    return net::fetch_http(network_, {"server", endpoint_.port},
                           {.method = "POST",
                            .target = "/corolane.test.Echo/Count",
                            .body = envelope(R"({"count":100,"milliseconds":"60000"})"),
                            .headers = json_stream},
                           Deadline::after(1h));
  });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  const TimePoint begun = now();
  EXPECT_TRUE(server_.stop(Deadline::after(1h)));
  EXPECT_LT(now() - begun, 2s);
  const auto response = stream.join(Deadline::never());
  ASSERT_TRUE(response) << response;
  EXPECT_THAT(envelopes_of(response->body).back().second,
              testing::StartsWith(R"({"error":{"code":"unavailable")"));
}

TEST_F(HttpFaceTest, AStreamHasATypeOfItsOwn) {
  const auto unary = post("Echo/Count", "{}");
  EXPECT_EQ(unary.status, 415u);
  EXPECT_EQ(unary.headers.find("Accept-Post"),
            "application/connect+json, application/connect+proto");
  const auto stream = post("Echo/Echo", envelope("{}"), json_stream);
  EXPECT_EQ(stream.status, 415u);
  EXPECT_THAT(stream.body, HasSubstr("takes application/json or application/proto, not "
                                     "\\\"application/connect+json\\\""));
}

TEST_F(HttpFaceTest, AnExceptionIsInternal) {
  const auto response = post("Echo/Explode", R"({"text":"boom"})");
  EXPECT_EQ(response.status, 500u);
  EXPECT_THAT(response.body, HasSubstr("\"internal\""));
  EXPECT_EQ(server_.statistics().stray_exception_count, 1u);
}

TEST_F(HttpFaceTest, AReplyHasALimit) {
  serve({.door = rpc::Door::nodes, .reply_bytes_max = 100});
  EXPECT_EQ(post("Echo/Echo", R"({"text":"short"})").status, 200u);
  const auto response = post("Echo/Echo", R"({"text":")" + std::string(100, 'x') + "\"}");
  EXPECT_EQ(response.status, 429u);
  EXPECT_THAT(response.body, HasSubstr("larger than 100 bytes"));
}

TEST_F(HttpFaceTest, DecodedRequestsHaveALimit) {
  rpc::Server server(network_, {.node_bytes_max = 6'000});
  ASSERT_TRUE(server.add(echo_) && server.add(mirror_));
  serve_from(server);
  EXPECT_EQ(post("Echo/Echo", R"({"text":")" + std::string(1'000, 'x') + "\"}").status, 200u);
  std::string children;
  for (int i = 0; i < 100; ++i) children += i == 0 ? "{}" : ",{}";
  EXPECT_EQ(post("Mirror/Reflect", "{\"children\":[" + children + "]}").status, 429u);
  stop();
}

TEST_F(HttpFaceTest, StopInAHandlerFailsInsteadOfWaitingForItself) {
  rpc::Server server(network_);
  Result<void> stopped;
  server.add_filter([&](rpc::Context&, const rpc::Next& next) -> Result<void> {
    stopped = http_->stop(Deadline::after(1s));
    return next();
  });
  ASSERT_TRUE(server.add(echo_));
  serve_from(server);
  EXPECT_EQ(post("Echo/Echo", R"({"text":"on it goes"})").status, 200u);
  EXPECT_THAT(stopped, fails_with(Code::failed_precondition));
  stop();
}

TEST_F(HttpFaceTest, AMethodWithoutSideEffectsMayBeCalledWithGet) {
  const std::string path = "/corolane.test.Mirror/Reflect";
  const auto json =
      fetch({.target = path + "?connect=v1&encoding=json&message=%7B%22aString%22%3A%22a+b%22%7D"});
  EXPECT_EQ(json.status, 200u);
  EXPECT_EQ(json.body, R"({"aString":"a b"})");
  Everything message;
  message.set_an_int32(7);
  const auto proto = fetch({.target = path + "?encoding=proto&base64=1&message=CAc"});
  EXPECT_EQ(proto.status, 200u);
  EXPECT_EQ(proto.body, message.SerializeAsString());
  for (const char* query :
       {"", "?encoding=xml&message=", "?encoding=json&message=%7", "?connect=v2",
        "?encoding=json&message=%7B%7D&compression=br", "?encoding=proto&base64=1&message=!"}) {
    EXPECT_GE(fetch({.target = path + query}).status, 400u) << query;
  }
}

TEST_F(HttpFaceTest, PagesOfNamedOriginsMayCall) {
  serve({.door = rpc::Door::nodes, .origins = {"https://game.example"}});
  const auto asked = [&](const std::string& origin) {
    return fetch({.method = "OPTIONS",
                  .target = "/corolane.test.Echo/Echo",
                  .headers = {{"Origin", origin},
                              {"Access-Control-Request-Method", "POST"},
                              {"Access-Control-Request-Headers", "content-type"}}});
  };
  const auto allowed = asked("https://game.example");
  EXPECT_EQ(allowed.status, 204u);
  EXPECT_EQ(allowed.headers.find("Access-Control-Allow-Origin"), "https://game.example");
  EXPECT_EQ(allowed.headers.find("Access-Control-Allow-Methods"), "GET, POST");
  EXPECT_EQ(allowed.headers.find("Access-Control-Allow-Headers"), "*, Authorization");
  const auto called =
      post("Echo/Echo", "{}",
           {{"Content-Type", "application/json"}, {"Origin", "https://game.example"}});
  EXPECT_EQ(called.status, 200u);
  EXPECT_EQ(called.headers.find("Access-Control-Allow-Origin"), "https://game.example");
  EXPECT_EQ(called.headers.find("Vary"), "Origin");

  const auto refused = asked("https://game.example.evil");
  EXPECT_EQ(refused.status, 403u);
  EXPECT_EQ(refused.headers.find("Access-Control-Allow-Origin"), "");
  EXPECT_THAT(refused.body, HasSubstr("web pages of https://game.example.evil may not call"));
  EXPECT_EQ(echo_.echoed.size(), 1u);
}

TEST_F(HttpFaceTest, PlayersReachOnlyPublicMethods) {
  serve({.door = rpc::Door::clients});
  EXPECT_EQ(post("Mirror/Show", "{}").status, 200u);
  EXPECT_EQ(post("Mirror/Reflect", "{}").status, 404u);
  EXPECT_EQ(post("Echo/Echo", "{}").status, 404u);
  const auto list = fetch({.target = "/"});
  EXPECT_THAT(list.body, HasSubstr("Mirror/Show"));
  EXPECT_THAT(list.body, Not(HasSubstr("Reflect")));
}

TEST_F(HttpFaceTest, TheRootListsTheServices) {
  const auto text = fetch({.target = "/"});
  EXPECT_EQ(text.content_type, "text/plain; charset=utf-8");
  EXPECT_THAT(text.body,
              HasSubstr("\n  POST /corolane.test.Echo/Echo  corolane.test.EchoRequest -> "
                        "corolane.test.EchoReply\n    Returns the text.\n"));
  EXPECT_THAT(text.body, HasSubstr("/Count  corolane.test.CountRequest -> corolane.test.CountReply"
                                   "  (a stream, also for EventSource)\n"));
  const auto html = fetch({.target = "/", .headers = {{"Accept", "text/html,*/*"}}});
  EXPECT_EQ(html.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(html.body, HasSubstr("<!doctype html>"));
  const auto json = fetch({.target = "/?format=json"});
  EXPECT_EQ(json.content_type, "application/json");
  EXPECT_THAT(json.body, HasSubstr(R"("path":"/corolane.test.Echo/Sleep")"));
  EXPECT_THAT(json.body, HasSubstr(R"("timeoutMs":3000)"));
  EXPECT_THAT(json.body, HasSubstr(R"("get":true,"comment":"Counts up from zero;)"));
}

// An object that is served directly, without an object host.
class Envelope : public codegen_test::EnvelopeOfNoReturnObject {
 public:
  Result<codegen_test::stationery::Article::Price> put_inside(
      const codegen_test::stationery::Article& request, rpc::Context&) override {
    return request.price();
  }
};

TEST_F(HttpFaceTest, TheListSaysWhichServicesHaveObjectsAndHowToCallThem) {
  Envelope envelope;
  rpc::Server server(network_);
  ASSERT_TRUE(server.add(envelope));
  ASSERT_TRUE(server.add(echo_));
  rpc::HttpFace face(server, {.door = rpc::Door::nodes});
  net::HttpServer http(network_, face, net::HttpServer::Options{});
  endpoint_ = http.listen({"objects", 0}).value();
  const auto list = [&](const std::string& target) {
    return net::fetch_http(network_, {"objects", endpoint_.port}, {.target = target},
                           Deadline::after(1min))
        .value_or(net::HttpResponse{})
        .body;
  };

  const std::string text = list("/");
  EXPECT_THAT(text, testing::StartsWith(
                        "corolane.codegen_test.EnvelopeOfNoReturn\n"
                        "  Its state is from another package.\n"
                        "\n"
                        "  Objects: the header Corolane-Object has the id of the object to call.\n"
                        "\n"
                        "  POST /corolane.codegen_test.EnvelopeOfNoReturn/PutInside  "));
  EXPECT_THAT(text.substr(text.find("corolane.test.Echo")), Not(HasSubstr("Corolane-Object")));
  const std::string json = list("/?format=json");
  EXPECT_THAT(json, HasSubstr(R"("objectState":"stationery.Article.Price","methods":[)"));
  EXPECT_THAT(json, HasSubstr(R"("durable":true,"readOnly":false)"));
  EXPECT_THAT(json, HasSubstr(R"("objectState":"","methods":[)"));
}

TEST_F(HttpFaceTest, CallsAreCountedLikeAllOthers) {
  EXPECT_EQ(post("Echo/Echo", "{}").status, 200u);
  EXPECT_EQ(post("Echo/Fail", R"({"code":5})").status, 404u);
  for (const auto& method : server_.statistics().methods) {
    const std::string_view name = method.full_name;
    const bool is_called = name.ends_with(".Echo/Echo") || name.ends_with(".Echo/Fail");
    EXPECT_EQ(method.call_count, is_called ? 1u : 0u) << name;
    EXPECT_EQ(method.error_count, name.ends_with("/Fail") ? 1u : 0u) << name;
  }
}

}  // namespace
}  // namespace corolane::test
