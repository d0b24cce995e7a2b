// SPDX-License-Identifier: MIT
// A call by HTTP whose client ends its side of the connection behind the request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "net/http/http_server.h"
#include "rpc/http/http_face.h"
#include "test/rpc/public_echo.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

class HalfCloseCallTest : public testing::Test {
 protected:
  // All that the server sends to a client that calls Echo and ends.
  std::string answer_to(const std::string& message) {
    auto client = network_.connect(endpoint_, Deadline::after(1s)).value();
    const std::string request =
        "POST /corolane.test.Echo/Echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/proto\r\n"
        "Content-Length: " +
        std::to_string(message.size()) + "\r\n\r\n" + message;
    EXPECT_TRUE(client->try_write(net::bytes_of(request)));
    client->finish_writing();
    std::string answer;
    std::array<std::byte, 4096> buffer;
    for (;;) {
      const auto count = client->read_some(buffer, Deadline::after(1min));
      EXPECT_TRUE(count) << count.error();
      if (!count || *count == 0) return answer;
      answer += net::text_of(std::span(buffer).first(*count));
    }
  }

  sim::SimulatedNetwork network_;
  PublicEcho echo_;
  rpc::Server server_{network_};
  Result<void> added_ = server_.add(echo_);
  rpc::HttpFace face_{server_, {.door = rpc::Door::clients}};
  net::HttpServer http_{network_, face_, {}};
  net::Endpoint endpoint_ = http_.listen({"server", 0}).value();
};

TEST_F(HalfCloseCallTest, ReplyOfTenMegabytesIsWhole) {
  echo_.echo.reply_bytes = 10'000'000;
  const std::string answer = answer_to("");
  EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 200 OK\r\n"));
  const std::string body = answer.substr(std::min(answer.size(), answer.find("\r\n\r\n") + 4));
  EchoReply reply;
  ASSERT_TRUE(reply.ParseFromString(body));
  EXPECT_EQ(reply.text().size(), 10'000'000u);
}

TEST_F(HalfCloseCallTest, ErrorIsWhole) {
  echo_.echo.echo_errors = {Error(Code::not_found, "no such text")};
  const std::string answer = answer_to("");
  EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(answer, testing::EndsWith(R"({"code":"not_found","message":"no such text"})"));
}

}  // namespace
}  // namespace corolane::test
