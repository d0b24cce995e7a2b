// SPDX-License-Identifier: MIT
// A client gets the same answer whether it calls by frames or by HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/task.h"
#include "net/http/http.h"
#include "net/http/http_server.h"
#include "rpc/http/http_face.h"
#include "rpc/wire/frame.h"
#include "test/rpc/mirror_service.h"
#include "test/rpc/public_echo.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

// The part of an answer that a client can tell apart.
struct SameAnswer {
  std::optional<Code> code = {};  // None: success.
  std::string text = {};          // The message of the error.

  bool operator==(const SameAnswer&) const = default;
};

// One server with two doors for clients, as a node has them.
class SameAnswerTest : public testing::Test {
 protected:
  static constexpr std::size_t request_bytes_max = 1'000;

  SameAnswerTest() {
    const rpc::Login login = [this](std::string_view token,
                                    const rpc::LoginPeer&) -> Result<rpc::Principal> {
      if (!needs_token_) return rpc::Principal();
      if (token == "right") return rpc::Principal{.id = "player-17"};
      if (token.empty()) return Error(Code::unauthenticated, "log in with a token");
      return Error(Code::unauthenticated, "the token is forged");
    };
    check(server_.add(echo_).has_value() && server_.add(mirror_).has_value(), "they can be added");
    check(server_
              .listen({"server", 1}, {.request_bytes_max = request_bytes_max,
                                      .door = rpc::Door::clients,
                                      .login = login})
              .has_value(),
          "the server listens");
    face_.emplace(server_, rpc::HttpFace::Options{.door = rpc::Door::clients, .login = login});
    http_.emplace(network_, *face_,
                  net::HttpServer::Options{.limits = {.body_bytes_max = request_bytes_max}});
    check(http_->listen({"server", 2}).has_value(), "the server listens for HTTP, too");
  }

  SameAnswer by_frames(const std::string& method, const std::string& message,
                       const std::string& token = "", std::chrono::microseconds time = 10s) {
    RawPeer peer(network_, 1);
    peer.say_hello({.token = token});
    auto received = peer.receive();
    if (received && received->header.type == FrameType::hello) {
      peer.send({.type = FrameType::request,
                 .call_id = 1,
                 .method_id = rpc::method_id(method),
                 .time = static_cast<std::uint32_t>(time.count())},
                message);
      received = peer.receive();
    }
    check(received.has_value(), "the server answers");
    if (received->header.code == 0) return {};
    return {.code = code_from_number(received->header.code), .text = received->message};
  }

  SameAnswer by_http(const std::string& method, const std::string& message,
                     const std::string& token = "", std::chrono::milliseconds time = 10s) {
    net::HttpRequest request{.method = "POST",
                             .target = "/" + method,
                             .body = message,
                             .headers = {{"Content-Type", "application/proto"},
                                         {"Connect-Timeout-Ms", std::to_string(time.count())}}};
    if (!token.empty()) request.headers.add("Authorization", "Bearer " + token);
    response_ = net::fetch_http(network_, {"server", 2}, request, Deadline::after(1min))
                    .value_or(net::HttpResponse{.status = 0});
    if (response_.status == 200) return {};
    if (response_.content_type != "application/json") return {.text = response_.body};
    const auto body = nlohmann::json::parse(response_.body);
    const auto name = body["code"].get<std::string>();
    SameAnswer answer{.text = body.value("message", "")};
    for (std::uint8_t number = 1; number < code_count; ++number) {
      const std::string_view own = to_string(code_from_number(number));
      if (name == own || (name == "canceled" && own == "cancelled")) {
        answer.code = code_from_number(number);
      }
    }
    check(answer.code.has_value(), "the code has a name");
    return answer;
  }

  sim::SimulatedNetwork network_;
  PublicEcho echo_;
  MirrorService mirror_;
  rpc::Server server_{network_};
  std::optional<rpc::HttpFace> face_;
  std::optional<net::HttpServer> http_;
  bool needs_token_ = false;
  net::HttpResponse response_;  // The last one.
};

TEST_F(SameAnswerTest, ReplyAndErrorOfAHandler) {
  const std::string hello = make_echo("hello").SerializeAsString();
  EXPECT_EQ(by_frames("corolane.test.Echo/Echo", hello), SameAnswer());
  EXPECT_EQ(by_http("corolane.test.Echo/Echo", hello), SameAnswer());
  for (std::uint32_t code = 1; code < code_count; ++code) {
    if (code_from_number(static_cast<std::uint8_t>(code)) == Code::cancelled) continue;
    const std::string fail = make_fail(code, "why").SerializeAsString();
    const SameAnswer answer = by_frames("corolane.test.Echo/Fail", fail);
    EXPECT_EQ(answer.code, code_from_number(static_cast<std::uint8_t>(code)));
    EXPECT_EQ(by_http("corolane.test.Echo/Fail", fail), answer);
  }
}

TEST_F(SameAnswerTest, MethodThatIsHiddenIsNotThere) {
  for (const char* const method : {"corolane.test.Mirror/Reflect", "corolane.test.Mirror/Nothing",
                                   "corolane.test.Nobody/Is"}) {
    EXPECT_EQ(by_frames(method, ""),
              (SameAnswer{.code = Code::unimplemented, .text = "the server has no such method"}));
    EXPECT_EQ(by_http(method, ""), (SameAnswer{.code = Code::unimplemented,
                                               .text = "no method /" + std::string(method) +
                                                       "; GET / lists the methods"}));
    EXPECT_EQ(response_.status, 404u);
  }
  EXPECT_EQ(by_frames("corolane.test.Mirror/Show", ""), SameAnswer());
  EXPECT_EQ(by_http("corolane.test.Mirror/Show", ""), SameAnswer());
}

TEST_F(SameAnswerTest, RequestThatIsTooLargeReachesNoHandler) {
  const std::string largest =
      make_echo(std::string(request_bytes_max - 3, 'x')).SerializeAsString();
  ASSERT_EQ(largest.size(), request_bytes_max);
  EXPECT_EQ(by_frames("corolane.test.Echo/Echo", largest), SameAnswer());
  EXPECT_EQ(by_http("corolane.test.Echo/Echo", largest), SameAnswer());
  EXPECT_EQ(echo_.echo.echoed.size(), 2u);

  const std::string larger = make_echo(std::string(request_bytes_max, 'x')).SerializeAsString();
  EXPECT_EQ(by_frames("corolane.test.Echo/Echo", larger).code, Code::resource_exhausted);
  by_http("corolane.test.Echo/Echo", larger);
  EXPECT_EQ(response_.status, 413u) << "HTTP has a status of its own for it";
  EXPECT_EQ(echo_.echo.echoed.size(), 2u);
}

TEST_F(SameAnswerTest, RequestThatCannotBeParsedIsAnInvalidArgument) {
  EXPECT_EQ(by_frames("corolane.test.Echo/Echo", "\x0a\x7f").code, Code::invalid_argument);
  EXPECT_EQ(by_http("corolane.test.Echo/Echo", "\x0a\x7f").code, Code::invalid_argument);
  EXPECT_TRUE(echo_.echo.echoed.empty());
}

TEST_F(SameAnswerTest, ClientThatHasNotLoggedInReachesNoHandler) {
  needs_token_ = true;
  for (const char* const token : {"", "forged"}) {
    const SameAnswer answer = by_frames("corolane.test.Echo/Echo", "", token);
    EXPECT_EQ(answer.code, Code::unauthenticated);
    EXPECT_EQ(by_http("corolane.test.Echo/Echo", "", token), answer);
    EXPECT_EQ(response_.status, 401u);
  }
  EXPECT_TRUE(echo_.echo.echoed.empty());
  EXPECT_EQ(by_frames("corolane.test.Echo/Echo", "", "right"), SameAnswer());
  EXPECT_EQ(by_http("corolane.test.Echo/Echo", "", "right"), SameAnswer());
}

TEST_F(SameAnswerTest, DeadlineEndsTheCall) {
  const std::string sleep = make_sleep(1h).SerializeAsString();
  const SameAnswer answer = by_frames("corolane.test.Echo/Sleep", sleep, "", 50ms);
  EXPECT_EQ(answer.code, Code::deadline_exceeded);
  EXPECT_EQ(by_http("corolane.test.Echo/Sleep", sleep, "", 50ms), answer);
  // That of the method ends it, whatever the client asks for.
  const TimePoint start = now();
  EXPECT_EQ(by_frames("corolane.test.Echo/Sleep", sleep, "", 1h), answer);
  EXPECT_EQ(by_http("corolane.test.Echo/Sleep", sleep, "", 1h), answer);
  EXPECT_LT(now() - start, 7s);
}

TEST_F(SameAnswerTest, ExceptionOfAHandlerIsInternal) {
  const std::string explode = make_echo("boom").SerializeAsString();
  const SameAnswer answer = by_frames("corolane.test.Echo/Explode", explode);
  EXPECT_EQ(answer.code, Code::internal);
  EXPECT_EQ(by_http("corolane.test.Echo/Explode", explode), answer);
}

}  // namespace
}  // namespace corolane::test
