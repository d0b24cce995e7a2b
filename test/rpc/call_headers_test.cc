// SPDX-License-Identifier: MIT
// Headers, trailers and the messages of errors travel with calls, by frames and by HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "net/http/http_server.h"
#include "rpc/error_details.h"
#include "rpc/http/http_face.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using rpc::Header;
using rpc::Headers;
using rpc::ReplyHeaders;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr Header<std::string_view> hue("hue");
constexpr Header<EchoRequest> packed("packed-bin");
constexpr std::string_view three_bytes("\0\xff\n", 3);

std::vector<std::pair<std::string, std::string>> pairs_of(const Headers& headers) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : headers) pairs.emplace_back(name, value);
  return pairs;
}

// Sends the headers of each request back, and trailers.
class HeaderService final : public EchoService {
 public:
  Result<EchoReply> echo(const EchoRequest& request, rpc::Context& context) override {
    answer(context);
    return EchoService::echo(request, context);
  }
  Result<EchoReply> fail(const FailRequest&, rpc::Context& context) override {
    answer(context);
    return rpc::with_message(Error(Code::failed_precondition, "not now"), make_echo("because"));
  }
  Result<void> count(const CountRequest& request, rpc::Writer<CountReply>& out,
                     rpc::Context& context) override {
    answer(context);
    return EchoService::count(request, out, context);
  }
  Result<void> note(const EchoRequest& request, rpc::Context& context) override {
    noted.push_back(std::string(context.headers().find("hue")));
    return EchoService::note(request, context);
  }

 private:
  static void answer(rpc::Context& context) {
    for (const auto& [name, value] : context.headers()) context.reply_headers().add(name, value);
    context.reply_trailers().add("end", "it is");
    context.reply_trailers().add("end-bin", three_bytes);
  }
};

class CallHeadersTest : public testing::Test {
 protected:
  // Filters are added before.
  void serve(rpc::Client::Options options = {}) {
    check(server_.add(service_).has_value(), "the service can be added");
    check(server_.listen({"server", 1}, {.door = rpc::Door::nodes}).has_value(),
          "the server listens");
    client_ =
        *rpc::Client::connect(network_, {"server", 1}, Deadline::after(1s), std::move(options));
    echo_.emplace(*client_);
    face_.emplace(server_, rpc::HttpFace::Options{.door = rpc::Door::nodes});
    http_.emplace(network_, *face_, net::HttpServer::Options{.sends_date = false});
    check(http_->listen({"server", 2}).has_value(), "the server listens for HTTP");
  }
  net::HttpResponse post(const std::string& method, std::string body, net::HttpHeaders headers) {
    if (headers.find("Content-Type").empty()) headers.add("Content-Type", "application/json");
    auto response = net::fetch_http(network_, {"server", 2},
                                    {.method = "POST",
                                     .target = "/corolane.test.Echo/" + method,
                                     .body = std::move(body),
                                     .headers = std::move(headers)},
                                    Deadline::after(1min));
    EXPECT_TRUE(response) << response;
    return response.value_or(net::HttpResponse{.status = 0});
  }
  rpc::CallOptions beside() { return {.headers = &sent_, .reply_headers = &received_}; }

  sim::SimulatedNetwork network_;
  HeaderService service_;
  rpc::Server server_{network_};
  std::unique_ptr<rpc::Client> client_;
  std::optional<EchoClient> echo_;
  std::optional<rpc::HttpFace> face_;
  std::optional<net::HttpServer> http_;
  Headers sent_;
  ReplyHeaders received_;
};

TEST_F(CallHeadersTest, HeadersTravelWithACallAndItsReply) {
  serve();
  sent_.set(hue, "red");
  sent_.set(packed, make_echo("in a header"));
  sent_.add("hue", "blue");
  ASSERT_TRUE(echo_->echo(make_echo("x"), beside()));
  EXPECT_EQ(received_.headers, sent_);
  EXPECT_EQ(received_.headers.get(packed)->text(), "in a header");
  EXPECT_THAT(pairs_of(received_.trailers),
              UnorderedElementsAre(Pair("end", "it is"), Pair("end-bin", three_bytes)));
  // A call without headers gets none of an earlier one.
  sent_.clear();
  ASSERT_TRUE(echo_->echo(make_echo("x"), beside()));
  EXPECT_TRUE(received_.headers.empty());
}

TEST_F(CallHeadersTest, AnErrorHasHeadersAndMessages) {
  serve();
  sent_.set(hue, "red");
  const auto failed = echo_->fail({}, beside());
  ASSERT_THAT(failed, fails_with(Code::failed_precondition));
  EXPECT_EQ(rpc::message_of<EchoRequest>(failed.error())->text(), "because");
  EXPECT_EQ(received_.headers.get(hue), "red");
  EXPECT_EQ(received_.trailers.find("end"), "it is");
}

TEST_F(CallHeadersTest, AStreamHasHeadersWithItsFirstMessageAndTrailersWithItsEnd) {
  serve();
  sent_.set(hue, "red");
  for (const std::uint32_t count : {3u, 0u}) {
    CountRequest request;
    request.set_count(count);
    request.set_milliseconds(10);
    auto stream = echo_->count(request, {.headers = &sent_});
    CountReply reply;
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(stream.read(reply));
      EXPECT_EQ(stream.reply_headers().headers.get(hue), "red");
      EXPECT_TRUE(i > 0 || stream.reply_headers().trailers.empty());
    }
    EXPECT_FALSE(stream.read(reply));
    EXPECT_TRUE(stream.finish());
    EXPECT_EQ(stream.reply_headers().headers.get(hue), "red");
    EXPECT_EQ(stream.reply_headers().trailers.find("end"), "it is");
  }
}

TEST_F(CallHeadersTest, AOneWayCallHasHeaders) {
  serve();
  sent_.set(hue, "red");
  ASSERT_TRUE(echo_->note(make_echo("x"), {.headers = &sent_}));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(service_.noted, (std::vector<std::string>{"red", "x"}));
}

TEST_F(CallHeadersTest, FiltersReadAndSetHeadersAndSeeTheReply) {
  std::string seen;
  server_.add_filter([&](rpc::Context& call, const rpc::Next& next) {
    seen = call.headers().get(hue).value_or("none");
    EXPECT_EQ(call.reply(), nullptr);
    auto result = next();
    if (call.reply() != nullptr) seen += " " + call.reply()->ShortDebugString();
    call.reply_headers().set(hue, "by the filter");
    return result;
  });
  Headers added;
  added.set(hue, "green");
  std::string replied;
  serve({.filters = {[&](rpc::OutgoingCall& call, const rpc::Next& next) {
           call.options.headers = &added;
           EXPECT_EQ(call.reply, nullptr);
           auto result = next();
           if (call.reply != nullptr) replied = call.reply->ShortDebugString();
           return result;
         }}});
  ASSERT_TRUE(echo_->echo(make_echo("x"), beside()));
  EXPECT_EQ(seen, R"(green text: "x")");
  EXPECT_EQ(replied, R"(text: "x")");
  EXPECT_EQ(received_.headers.get(hue), "by the filter");
  EXPECT_FALSE(echo_->fail({}, beside()));
  EXPECT_EQ(received_.headers.get(hue), "by the filter");
}

TEST_F(CallHeadersTest, AFilterThatReturnsNeitherAReplyNorAnErrorEndsTheCall) {
  server_.add_filter([](rpc::Context&, const rpc::Next&) -> Result<void> { return {}; });
  serve();
  EXPECT_THAT(echo_->echo(make_echo("x")), fails_with(Code::internal));
}

TEST_F(CallHeadersTest, HeadersThatCannotBeSentFailTheirCall) {
  serve();
  sent_.add("Wrong", "x");
  const auto wrong = echo_->echo(make_echo("x"), beside());
  ASSERT_THAT(wrong, fails_with(Code::invalid_argument));
  EXPECT_TRUE(wrong.error().not_executed());
  EXPECT_THAT(wrong.error().message(), HasSubstr("\"Wrong\" is no name of a header"));
  sent_.clear();
  sent_.add("much", std::string(Headers::bytes_max, 'x'));
  EXPECT_THAT(echo_->echo(make_echo("x"), beside()), fails_with(Code::resource_exhausted));
  EXPECT_TRUE(service_.echoed.empty());
}

TEST_F(CallHeadersTest, ReplyHeadersThatCannotBeSentAreAnInternalError) {
  server_.add_filter([](rpc::Context& call, const rpc::Next& next) {
    call.reply_trailers().add("a b", "x");
    return next();
  });
  serve();
  const auto failed = echo_->echo(make_echo("x"));
  ASSERT_THAT(failed, fails_with(Code::internal));
  EXPECT_THAT(failed.error().message(), HasSubstr("\"a b\" is no name of a header"));
  EXPECT_TRUE(failed.error().maybe_executed());
  EXPECT_EQ(post("Echo", "{}", {}).status, 500u);
  CountRequest request;
  auto stream = echo_->count(request);
  CountReply reply;
  EXPECT_FALSE(stream.read(reply));
  EXPECT_THAT(stream.finish(), fails_with(Code::internal));
}

TEST_F(CallHeadersTest, HttpCarriesHeadersAsFieldsAndTrailersWithAPrefix) {
  serve();
  const auto response = post("Echo", "{}",
                             {{"Hue", "red"},
                              {"packed-BIN", "AP8K"},
                              {"malformed-bin", "!"},
                              {"Authorization", "Bearer secret"},
                              {"Connect-Protocol-Version", "1"}});
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.headers.find("hue"), "red");
  EXPECT_EQ(response.headers.find("packed-bin"), "AP8K");
  EXPECT_EQ(response.headers.find("malformed-bin"), "");
  EXPECT_EQ(response.headers.find("authorization"), "") << "handlers do not see tokens";
  EXPECT_EQ(response.headers.find("connect-protocol-version"), "");
  EXPECT_EQ(response.headers.find("trailer-end"), "it is");
  EXPECT_EQ(response.headers.find("trailer-end-bin"), "AP8K");
}

TEST_F(CallHeadersTest, ErrorsByHttpCarryHeadersAndMessages) {
  serve();
  const auto response = post("Fail", "{}", {{"hue", "red"}});
  EXPECT_EQ(response.status, 400u);
  EXPECT_EQ(response.headers.find("hue"), "red");
  EXPECT_EQ(response.headers.find("trailer-end"), "it is");
  EXPECT_EQ(response.body, R"({"code":"failed_precondition","message":"not now","details":[)"
                           R"({"type":"corolane.test.EchoRequest","value":"CgdiZWNhdXNl"}]})");
}

TEST_F(CallHeadersTest, AStreamByHttpHasItsTrailersInTheLastEnvelope) {
  serve();
  const std::string request = std::string("\0\0\0\0\x0b", 5) + R"({"count":1})";
  const auto response =
      post("Count", request, {{"Content-Type", "application/connect+json"}, {"hue", "red"}});
  EXPECT_EQ(response.headers.find("hue"), "red");
  EXPECT_EQ(response.headers.find("trailer-end"), "");
  EXPECT_THAT(response.body,
              testing::EndsWith(R"({"metadata":{"end":["it is"],"end-bin":["AP8K"]}})"));
}

}  // namespace
}  // namespace corolane::test
