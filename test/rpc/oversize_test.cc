// SPDX-License-Identifier: MIT
// A message above the limit of its receiver fails its own call alone.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "coroutine/task.h"
#include "rpc/wire/frame.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

class OversizeTest : public testing::Test {
 protected:
  static constexpr std::size_t request_bytes_max = 1'000;
  static constexpr std::size_t reply_bytes_max = 2'000;

  // A call that is under way while others fail.
  coroutine::Task<std::string> sleep_meanwhile() {
    return coroutine::spawn("sleeper", [this]() -> Result<std::string> {
      auto reply = client_.sleep(make_sleep(1s, "slept"));
      if (!reply) return reply.error();
      return reply->text();
    });
  }

  EchoWorld world_{{}, {}, {.request_bytes_max = request_bytes_max, .door = rpc::Door::nodes}};
  std::unique_ptr<rpc::Client> connection_ = world_.connect({.reply_bytes_max = reply_bytes_max});
  EchoClient client_{*connection_};
};

TEST_F(OversizeTest, RequestIsRefusedByItsClientAndOtherCallsGoOn) {
  auto other = sleep_meanwhile();
  const auto sent_before = world_.server.statistics().received_bytes;

  const auto reply = client_.echo(make_echo(std::string(request_bytes_max, 'x')));

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::resource_exhausted);
  EXPECT_TRUE(reply.error().not_executed());
  EXPECT_EQ(reply.error().message(),
            "corolane.test.Echo/Echo: a message of 1003 bytes is above the limit of 1000");
  EXPECT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_LT(world_.server.statistics().received_bytes, sent_before + 100);
  EXPECT_EQ(other.join(Deadline::never()).value(), "slept");
  EXPECT_EQ(connection_->statistics().connect_count, 1u);
}

TEST_F(OversizeTest, RequestOfTheLargestSizeIsServed) {
  const auto reply = client_.echo(make_echo(std::string(request_bytes_max - 3, 'x')));
  EXPECT_TRUE(reply) << reply;
}

TEST_F(OversizeTest, ReplyFailsItsCallOnTheServersSide) {
  auto other = sleep_meanwhile();
  world_.service.reply_bytes = reply_bytes_max;

  const auto reply = client_.echo(make_echo("much"));

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::resource_exhausted);
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_EQ(reply.error().message(),
            "the reply of corolane.test.Echo/Echo: a message of 2003 bytes is above the limit of "
            "2000");
  EXPECT_EQ(other.join(Deadline::never()).value(), "slept");
  EXPECT_EQ(connection_->statistics().connect_count, 1u);
}

TEST_F(OversizeTest, ErrorKeepsItsCode) {
  FailRequest request = make_fail(static_cast<std::uint32_t>(Code::failed_precondition), "why");
  request.set_detail(std::string(900, 'x'));
  auto small = world_.connect({.reply_bytes_max = 100});

  const auto reply = EchoClient(*small).fail(request);

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Code::failed_precondition);
  EXPECT_EQ(reply.error().message(), "the text of an error of 906 bytes is above the limit of 100");
  EXPECT_TRUE(small->is_connected());
}

TEST_F(OversizeTest, ItemEndsItsStreamAlone) {
  auto other = sleep_meanwhile();
  CountRequest request;
  request.set_count(3);
  request.set_size(reply_bytes_max);
  auto numbers = client_.count(request);
  CountReply item;

  EXPECT_FALSE(numbers.read(item));

  EXPECT_EQ(numbers.finish().error().code(), Code::resource_exhausted);
  EXPECT_EQ(other.join(Deadline::never()).value(), "slept");
  EXPECT_EQ(connection_->statistics().connect_count, 1u);
}

// A client that does not keep to the limit that the server has named.
TEST_F(OversizeTest, RequestOfAnyClientIsAnsweredByItsHeaderAndSkipped) {
  RawPeer peer(world_);
  peer.say_hello({});
  ASSERT_EQ(peer.receive()->header.type, FrameType::hello);

  peer.call(std::string(5 * request_bytes_max, 'x'), 1);
  peer.call("small", 2);

  const auto refused = peer.receive();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->header.call_id, 1u);
  EXPECT_EQ(refused->header.code, static_cast<std::uint8_t>(Code::resource_exhausted));
  EXPECT_TRUE(refused->header.not_executed);
  EXPECT_EQ(refused->message,
            "corolane.test.Echo/Echo: a request of 5003 bytes is above the limit of 1000");
  const auto served = peer.receive();
  ASSERT_TRUE(served);
  EXPECT_EQ(served->header.call_id, 2u);
  EXPECT_EQ(served->header.code, 0);
  EXPECT_EQ(world_.service.echoed, std::vector<std::string>{"small"});
}

// A server that does not keep to the limit that the client has named.
class OversizeReplyTest : public testing::Test {
 protected:
  static constexpr std::size_t reply_bytes_max = 2'000;

  void SetUp() override {
    auto listener = network_.listen({"server", 1});
    ASSERT_TRUE(listener);
    listener_ = std::move(*listener);
  }
  RawPeer accept() {
    auto stream = listener_->accept(Deadline::after(1s));
    check(stream.has_value(), "the client connects");
    RawPeer server(std::move(*stream));
    check(server.receive()->header.type == FrameType::hello, "the client says hello");
    server.say_hello({});
    return server;
  }

  sim::SimulatedNetwork network_;
  std::unique_ptr<net::Listener> listener_;
  rpc::Client connection_{network_, {"server", 1}, {.reply_bytes_max = reply_bytes_max}};
  EchoClient client_{connection_};
};

TEST_F(OversizeReplyTest, ReplyOfAnyServerFailsItsCallAlone) {
  auto first = coroutine::spawn("first", [this] { return client_.echo(make_echo("one")); });
  auto second = coroutine::spawn("second", [this] { return client_.echo(make_echo("two")); });
  RawPeer server = accept();
  const std::uint64_t first_id = server.receive()->header.call_id;
  const std::uint64_t second_id = server.receive()->header.call_id;

  server.send({.type = FrameType::reply, .call_id = first_id},
              make_echo(std::string(reply_bytes_max, 'x')).SerializeAsString());
  server.send({.type = FrameType::reply, .call_id = second_id},
              make_echo("small").SerializeAsString());

  const auto failed = first.join(Deadline::never());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::resource_exhausted);
  EXPECT_TRUE(failed.error().maybe_executed());
  EXPECT_EQ(failed.error().message(), "a reply of 2003 bytes is above the limit of 2000");
  EXPECT_EQ(second.join(Deadline::never())->text(), "small");
  EXPECT_TRUE(connection_.is_connected());
  connection_.close();
}

TEST_F(OversizeReplyTest, ItemOfAnyServerEndsItsStreamAndCancelsIt) {
  auto reading = coroutine::spawn("reader", [this]() -> Result<void> {
    auto numbers = client_.count({});
    for (CountReply item; numbers.read(item);) {
    }
    return numbers.finish();
  });
  RawPeer server = accept();
  const std::uint64_t id = server.receive()->header.call_id;

  server.send({.type = FrameType::item, .call_id = id}, std::string(reply_bytes_max + 1, 'x'));

  const auto ended = reading.join(Deadline::never());
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code(), Code::resource_exhausted);
  const auto next = server.receive();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->header.type, FrameType::cancel);
  EXPECT_EQ(next->header.call_id, id);
  EXPECT_TRUE(connection_.is_connected());
  connection_.close();
}

}  // namespace
}  // namespace corolane::test
