// SPDX-License-Identifier: MIT
// Methods that are called with a stream: order, flow control, ends of all kinds, and peers that do
// not keep the rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/http/http_server.h"
#include "rpc/http/http_face.h"
#include "rpc/stream.h"
#include "test/rpc/raw_peer.h"
#include "test/rpc/talk.corolane.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;
using testing::HasSubstr;

Number number(std::int64_t value, std::size_t padding = 0) {
  Number number;
  number.set_value(value);
  number.set_padding(std::string(padding, 'x'));
  return number;
}

class TalkService final : public TalkBase {
 public:
  Result<Number> sum(rpc::Requests<Number>& in, rpc::Context&) override {
    if (auto slept = coroutine::sleep_for(patience); !slept) return slept.error();
    std::int64_t sum = 0;
    for (Number added; in.read(added);) {
      ++read_count;
      if (added.value() < 0) return number(sum);
      sum += added.value();
    }
    ended = in.finish();
    if (!ended) return ended.error();
    return number(sum);
  }
  Result<void> twice(rpc::Requests<Number>& in, rpc::Writer<Number>& out, rpc::Context&) override {
    for (Number asked; in.read(asked);) {
      if (auto written = out.write(number(2 * asked.value(), asked.padding().size())); !written) {
        return written;
      }
    }
    return in.finish();
  }

  Duration patience{};  // Before sum() reads.
  int read_count = 0;
  Result<void> ended;
};

class RequestStreamTest : public testing::Test {
 protected:
  RequestStreamTest() {
    check(server_.add(service_).has_value(), "the service can be added");
    check(server_.listen({"server", 1}, {.request_bytes_max = 20'000, .door = rpc::Door::nodes})
              .has_value(),
          "the server listens");
    client_ = *rpc::Client::connect(network_, {"server", 1}, Deadline::after(1s));
  }
  TalkClient talk() { return TalkClient(*client_); }

  sim::SimulatedNetwork network_;
  TalkService service_;
  rpc::Server server_{network_};
  std::unique_ptr<rpc::Client> client_;
};

TEST_F(RequestStreamTest, AllMessagesAreReadInOrderBeforeTheReply) {
  auto sum = talk().sum();
  for (int i = 1; i <= 1000; ++i) ASSERT_TRUE(sum.write(number(i, 200)));
  const auto total = sum.finish();
  ASSERT_TRUE(total) << total;
  EXPECT_EQ(total->value(), 500'500);
  EXPECT_EQ(service_.read_count, 1000);
  EXPECT_TRUE(service_.ended);
}

TEST_F(RequestStreamTest, AnEmptyStreamIsAStream) {
  const auto total = talk().sum().finish();
  ASSERT_TRUE(total) << total;
  EXPECT_EQ(total->value(), 0);
}

TEST_F(RequestStreamTest, AWriterIsAWindowAheadOfItsReaderAtMost) {
  service_.patience = 1s;
  auto sum = talk().sum();
  const TimePoint begun = now();
  int written = 0;
  while (now() - begun < 500ms && written < 100) {
    ASSERT_TRUE(sum.write(number(1, 8'000)));
    ++written;
  }
  EXPECT_EQ(written, 10) << "nine fill the window, the tenth waits until the handler reads";
  EXPECT_GE(now() - begun, 1s);
  EXPECT_EQ(sum.finish()->value(), 10);
}

TEST_F(RequestStreamTest, AReplyBeforeTheEndStopsTheWriter) {
  auto sum = talk().sum();
  ASSERT_TRUE(sum.write(number(5)));
  ASSERT_TRUE(sum.write(number(-1)));
  int written = 0;
  while (sum.write(number(1, 8'000)) && written < 1000) ++written;
  EXPECT_LT(written, 1000);
  const auto total = sum.finish();
  ASSERT_TRUE(total) << total;
  EXPECT_EQ(total->value(), 5);
}

TEST_F(RequestStreamTest, StreamsOfBothDirectionsDoNotWaitForEachOther) {
  auto twice = talk().twice();
  auto writer = coroutine::spawn("writer", [&]() -> Result<void> {
    for (int i = 0; i < 500; ++i) {
      if (!twice.write(number(i, 1000))) return Error(Code::unknown, "ended early");
    }
    twice.finish_writing();
    return {};
  });
  std::int64_t count = 0;
  for (Number reply; twice.read(reply); ++count) EXPECT_EQ(reply.value(), 2 * count);
  EXPECT_EQ(count, 500);
  EXPECT_TRUE(twice.finish());
  EXPECT_TRUE(writer.join(Deadline::never()));
}

TEST_F(RequestStreamTest, QuestionsAndAnswersAlternate) {
  auto twice = talk().twice();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(twice.write(number(i)));
    Number reply;
    ASSERT_TRUE(twice.read(reply));
    EXPECT_EQ(reply.value(), 2 * i);
  }
  twice.finish_writing();
  Number more;
  EXPECT_FALSE(twice.read(more));
  EXPECT_TRUE(twice.finish());
}

TEST_F(RequestStreamTest, ACallerThatLeavesEndsTheStreamOfItsHandler) {
  {
    auto sum = talk().sum();
    ASSERT_TRUE(sum.write(number(1)));
    ASSERT_TRUE(coroutine::sleep_for(100ms));
    EXPECT_EQ(server_.statistics().stream_count, 1u);
  }
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_THAT(service_.ended, fails_with(Code::cancelled));
  EXPECT_EQ(server_.statistics().stream_count, 0u);
}

TEST_F(RequestStreamTest, TheDeadlineEndsBothEnds) {
  auto sum = talk().sum({.deadline = Deadline::after(1s)});
  ASSERT_TRUE(sum.write(number(1)));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_THAT(sum.finish(), fails_with(Code::deadline_exceeded));
  EXPECT_FALSE(service_.ended);
}

TEST_F(RequestStreamTest, AWriterLearnsThatTheConnectionIsLost) {
  service_.patience = 1h;
  auto sum = talk().sum({.deadline = Deadline::after(2h)});
  auto writer = coroutine::spawn("writer", [&] {
    int written = 0;
    while (sum.write(number(1, 8'000))) ++written;
    return Result<int>(written);
  });
  ASSERT_TRUE(coroutine::sleep_for(1s));
  client_->close();
  EXPECT_TRUE(writer.join(Deadline::after(1s)));
  const auto total = sum.finish();
  ASSERT_FALSE(total);
  EXPECT_TRUE(total.error().maybe_executed());
}

TEST_F(RequestStreamTest, AServerThatStopsEndsStreamsAtOnce) {
  auto sum = talk().sum({.deadline = Deadline::after(1h)});
  ASSERT_TRUE(sum.write(number(1)));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_TRUE(server_.stop(Deadline::after(10s)));
  EXPECT_THAT(sum.finish(), fails_with(Code::unavailable));
}

TEST_F(RequestStreamTest, AMessageAboveTheLimitFailsItsOwnCall) {
  auto sum = talk().sum();
  ASSERT_TRUE(sum.write(number(1)));
  EXPECT_FALSE(sum.write(number(1, 30'000))) << "the sender knows the limit";
  EXPECT_THAT(sum.finish(), fails_with(Code::resource_exhausted));
  EXPECT_EQ(talk().sum().finish()->value(), 0) << "the connection goes on";
}

// A client that opens a call of Sum and does as it likes.
class RawTalk {
 public:
  explicit RawTalk(net::Network& network) : peer(network) {
    peer.say_hello({});
    check(peer.receive()->header.type == FrameType::hello, "the connection is open");
    open(1);
  }
  void open(std::uint64_t id) {
    peer.send({.type = FrameType::request,
               .call_id = id,
               .method_id = rpc::method_id("corolane.test.Talk/Sum"),
               .time = 60'000'000});
  }
  void item(const std::string& bytes, std::uint64_t id = 1) {
    peer.send({.type = FrameType::item, .call_id = id}, bytes);
  }
  void item(const Number& value, std::uint64_t id = 1) { item(value.SerializeAsString(), id); }
  void end(std::uint64_t id = 1) { peer.send({.type = FrameType::end, .call_id = id}); }
  // Empty: success.
  std::optional<Code> code_of_reply() {
    auto reply = peer.receive();
    while (reply && reply->header.type == FrameType::window) reply = peer.receive();
    check(reply.has_value() && reply->header.type == FrameType::reply, "the call is answered");
    if (reply->header.code == 0) return std::nullopt;
    return code_from_number(reply->header.code);
  }

  RawPeer peer;
};

TEST_F(RequestStreamTest, AClientThatIgnoresTheWindowIsDisconnected) {
  service_.patience = 1h;
  RawTalk raw(network_);
  for (int i = 0; i < 20; ++i) raw.item(number(1, 8'000));
  const Error bye = raw.peer.receive_bye();
  EXPECT_EQ(bye.code(), Code::resource_exhausted);
  EXPECT_THAT(bye.message(), HasSubstr("exceeds the window of its reader"));
}

TEST_F(RequestStreamTest, ItemsBehindTheEndAndForOtherMethodsAreErrors) {
  {
    service_.patience = 1h;
    RawTalk raw(network_);
    raw.end();
    raw.item(number(1));
    EXPECT_EQ(raw.peer.receive_bye().code(), Code::invalid_argument);
  }
  EchoService echo;
  rpc::Server server(network_);
  ASSERT_TRUE(server.add(echo));
  ASSERT_TRUE(server.listen({"server", 2}, {.door = rpc::Door::nodes}));
  RawPeer peer(network_, 2);
  peer.say_hello({});
  ASSERT_TRUE(peer.receive());
  peer.send({.type = FrameType::request,
             .call_id = 1,
             .method_id = rpc::method_id("corolane.test.Echo/Sleep"),
             .time = 60'000'000},
            make_sleep(10s).SerializeAsString());
  peer.send({.type = FrameType::item, .call_id = 1});
  EXPECT_EQ(peer.receive_bye().code(), Code::invalid_argument);
}

TEST_F(RequestStreamTest, ItemsOfACallThatHasEndedAreIgnored) {
  RawTalk raw(network_);
  raw.item(number(7), 99);
  raw.end(99);
  raw.item(number(-1));
  EXPECT_EQ(raw.code_of_reply(), std::nullopt);
  raw.item(number(1));
  raw.end();
  raw.open(2);
  raw.end(2);
  EXPECT_EQ(raw.code_of_reply(), std::nullopt);
}

TEST_F(RequestStreamTest, MalformedAndTooLargeItemsFailTheirOwnCall) {
  RawTalk raw(network_);
  raw.item("\xff");
  EXPECT_EQ(raw.code_of_reply(), Code::invalid_argument);
  raw.open(2);
  raw.item(number(1, 30'000), 2);
  EXPECT_EQ(raw.code_of_reply(), Code::resource_exhausted);
  raw.open(3);
  raw.end(3);
  EXPECT_EQ(raw.code_of_reply(), std::nullopt);
}

TEST_F(RequestStreamTest, ItemsThatWaitCountAsMemoryOfTheServer) {
  TalkService service;
  service.patience = 1s;
  rpc::Server server(network_, {.node_bytes_max = 100'000});
  ASSERT_TRUE(server.add(service));
  ASSERT_TRUE(server.listen({"server", 2}, {.door = rpc::Door::nodes}));
  const auto client = rpc::Client::connect(network_, {"server", 2}, Deadline::after(1s));
  ASSERT_TRUE(client);
  for (int round = 0; round < 2; ++round) {
    auto too_much = TalkClient(**client).sum();
    for (int i = 0; i < 7; ++i) too_much.write(number(1, 8'000));
    EXPECT_THAT(too_much.finish(), fails_with(Code::resource_exhausted));
    auto fits = TalkClient(**client).sum();
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(fits.write(number(1, 8'000)));
    EXPECT_EQ(fits.finish()->value(), 5) << "the memory was given back";
  }
}

TEST_F(RequestStreamTest, HttpCarriesTheStreamInTheBody) {
  rpc::HttpFace face(server_, {.door = rpc::Door::nodes});
  net::HttpServer http(network_, face, net::HttpServer::Options{});
  ASSERT_TRUE(http.listen({"server", 3}));
  const auto envelope = [](const std::string& text) {
    std::string head("\0\0\0\0", 4);
    head += static_cast<char>(text.size());
    return head + text;
  };
  const auto post = [&](const std::string& method, const std::string& body) {
    auto response = net::fetch_http(network_, {"server", 3},
                                    {.method = "POST",
                                     .target = "/corolane.test.Talk/" + method,
                                     .body = body,
                                     .headers = {{"Content-Type", "application/connect+json"}}},
                                    Deadline::after(1min));
    return response ? response->body : std::string();
  };
  const std::string end = std::string("\x02\0\0\0\x02{}", 7);
  const std::string numbers = envelope(R"({"value":"3"})") + envelope(R"({"value":"4"})");
  EXPECT_EQ(post("Sum", numbers), envelope(R"({"value":"7"})") + end);
  EXPECT_EQ(post("Sum", ""), envelope("{}") + end);
  EXPECT_EQ(post("Twice", numbers),
            envelope(R"({"value":"6"})") + envelope(R"({"value":"8"})") + end);
  EXPECT_THAT(post("Sum", envelope(R"({"value":"1"})") + envelope("{")),
              HasSubstr(R"({"error":{"code":"invalid_argument")"));
  EXPECT_THAT(post("Sum", numbers.substr(0, numbers.size() - 1)), HasSubstr("cut off"));
}

}  // namespace
}  // namespace corolane::test
