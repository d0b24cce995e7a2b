// SPDX-License-Identifier: MIT
// A client of HTTP that ends its side of the connection behind its last request, as `nc -N` does.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "net/http/http_server.h"
#include "net/testing/network.h"
#include "test/fixtures/real_loop.h"
#include "test/net/stream_pair.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::soon;

constexpr std::size_t large_body_bytes = 10'000'000;

class HalfCloseTest : public testing::Test {
 protected:
  // Sends requests, each for an answer of a size, and ends.
  std::unique_ptr<Stream> ask(const std::string& requests) {
    auto client = network_.connect(endpoint_, soon());
    check(client.has_value(), "the client connects");
    EXPECT_TRUE((*client)->try_write(bytes_of(requests)));
    (*client)->finish_writing();
    return *std::move(client);
  }

  static std::string get(std::size_t size) {
    return "GET /" + std::to_string(size) + " HTTP/1.1\r\nHost: h\r\n\r\n";
  }

  // Takes the next answer, and says whether it is whole.
  static bool take_whole_answer(std::string_view& answers, std::size_t size) {
    constexpr std::string_view length = "Content-Length: ";
    const std::size_t head_end = answers.find("\r\n\r\n");
    const std::size_t length_at = answers.find(length);
    if (!answers.starts_with("HTTP/1.1 200") || length_at > head_end) return false;
    if (std::stoul(std::string(answers.substr(length_at + length.size(), 9))) != size) return false;
    answers.remove_prefix(head_end + 4);
    const bool is_whole = answers.substr(0, size) == std::string(size, 'x');
    answers.remove_prefix(std::min(size, answers.size()));
    return is_whole;
  }

  static HttpResponse answer(const HttpRequest& request) {
    const auto size = std::stoul(std::string(request.path().substr(1)));
    return HttpResponse{.body = std::string(size, 'x')};
  }

  sim::SimulatedNetwork network_;
  HttpServer server_{network_, answer};
  Endpoint endpoint_ = server_.listen({"server", 0}).value();
};

TEST_F(HalfCloseTest, AnswerOfTenMegabytesIsWhole) {
  const auto client = ask(get(large_body_bytes));
  const std::string answers = read_all(*client).value_or("");
  std::string_view rest = answers;
  EXPECT_TRUE(take_whole_answer(rest, large_body_bytes));
  EXPECT_TRUE(rest.empty());
}

TEST_F(HalfCloseTest, AnswerOfTenMegabytesIsWholeForAClientThatReadsLater) {
  const auto client = ask(get(large_body_bytes));
  std::string answers;
  std::string part = " ";
  for (int count = 0; !part.empty(); ++count) {
    if (count % 50 == 0) {
      ASSERT_TRUE(coroutine::sleep_for(100ms));
    }
    part = read_text(*client, soon()).value_or("");
    answers += part;
  }
  std::string_view rest = answers;
  EXPECT_TRUE(take_whole_answer(rest, large_body_bytes));
  EXPECT_TRUE(rest.empty());
}

TEST_F(HalfCloseTest, AnswersBeforeALargeOneAreWholeAndNoneIsCut) {
  const auto client = ask(get(10) + get(70'000) + get(large_body_bytes) + get(10));
  const std::string answers = read_all(*client).value_or("");
  std::string_view rest = answers;
  EXPECT_TRUE(take_whole_answer(rest, 10));
  EXPECT_TRUE(take_whole_answer(rest, 70'000));
  // Nothing slows down further answers: the server may leave out the last ones.
  const bool has_large = !rest.empty();
  EXPECT_TRUE(!has_large || take_whole_answer(rest, large_body_bytes));
  EXPECT_TRUE(rest.empty() || take_whole_answer(rest, 10));
  EXPECT_TRUE(rest.empty());
}

TEST_F(HalfCloseTest, AnswerOverTcpIsWhole) {
  test::run_on_real_loop([](test::RealLoop& real) {
    HttpServer server(real.network, answer);
    const auto endpoint = server.listen({"127.0.0.1", 0});
    ASSERT_TRUE(endpoint) << endpoint;
    auto client = real.network.connect(*endpoint, soon());
    ASSERT_TRUE(client) << client;
    EXPECT_TRUE((*client)->try_write(bytes_of(get(large_body_bytes))));
    (*client)->finish_writing();
    const std::string answers = read_all(**client).value_or("");
    std::string_view rest = answers;
    EXPECT_TRUE(take_whole_answer(rest, large_body_bytes));
    EXPECT_TRUE(rest.empty());
  });
}

}  // namespace
}  // namespace corolane::net
