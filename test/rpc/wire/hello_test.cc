// SPDX-License-Identifier: MIT
// Connections that do not begin with a valid hello.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "rpc/wire/frame.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameHeader;
using rpc::FrameType;

std::array<std::byte, rpc::frame_header_size> encoded(const FrameHeader& header) {
  std::array<std::byte, rpc::frame_header_size> bytes;
  rpc::encode(header, bytes);
  return bytes;
}

// A connection without a client behind it.
std::unique_ptr<net::Stream> connect_raw(EchoWorld& world) {
  auto stream = world.network.connect({"server", 1}, Deadline::after(1s));
  check(stream.has_value(), "the raw stream connects");
  return std::move(*stream);
}

// All bytes that the server sends until it closes.
std::vector<std::byte> read_to_end(net::Stream& stream) {
  std::vector<std::byte> all;
  std::array<std::byte, 256> buffer;
  for (;;) {
    const auto count = stream.read_some(buffer, Deadline::after(1h));
    if (!count || *count == 0) return all;
    all.insert(all.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*count));
  }
}

// The reason in the bye of a server that has received no valid hello, and so sends none.
Error bye_of(const std::vector<std::byte>& bytes) {
  rpc::FrameDecoder decoder(4096);
  decoder.feed(bytes);
  rpc::Frame frame;
  check(decoder.next(frame).value() && frame.header.type == FrameType::bye, "a bye comes first");
  return Error(code_from_number(frame.header.code), std::string(text_of(frame)));
}

TEST(HelloTest, PeerOfAnotherProtocolGetsAClearError) {
  EchoWorld world;
  auto stream = connect_raw(world);
  ASSERT_TRUE(stream->try_write(net::bytes_of("GET / HTTP/1.1\r\nHost: server\r\n\r\n\r\n")));
  EXPECT_EQ(bye_of(read_to_end(*stream)).code(), Code::invalid_argument);
  stream->close();
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.server.statistics().protocol_error_count, 1u);
  EXPECT_EQ(world.server.statistics().connection_count, 0u);
}

TEST(HelloTest, RequestBeforeTheHelloIsNotServed) {
  EchoWorld world;
  auto stream = connect_raw(world);
  ASSERT_TRUE(stream->try_write(encoded(
      {.type = FrameType::request, .method_id = rpc::method_id("corolane.test.Echo/Echo")})));
  EXPECT_EQ(bye_of(read_to_end(*stream)).code(), Code::unauthenticated);
  EXPECT_EQ(world.server.statistics().methods.front().call_count, 0u);
}

TEST(HelloTest, OtherVersionIsNamed) {
  EchoWorld world;
  auto stream = connect_raw(world);
  ASSERT_TRUE(stream->try_write(
      encoded({.type = FrameType::hello, .call_id = rpc::hello_magic, .method_id = 7})));
  const Error bye = bye_of(read_to_end(*stream));
  EXPECT_EQ(bye.code(), Code::unimplemented);
  EXPECT_EQ(bye.message(), "the peer speaks version 7 of the protocol, and this end version 1");
}

TEST(HelloTest, SilentPeerIsClosedAfterTheLimit) {
  EchoWorld world({.hello_time_max = 5s});
  auto stream = connect_raw(world);
  const TimePoint start = now();
  EXPECT_EQ(bye_of(read_to_end(*stream)).code(), Code::deadline_exceeded);
  // Its clock began before the connect returned here, and its bye travels a millisecond.
  EXPECT_GE(now() - start, 5s - 2ms);
  EXPECT_LE(now() - start, 5s + 2ms);
  stream->close();
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(world.server.statistics().connection_count, 0u);
  EXPECT_EQ(world.server.statistics().protocol_error_count, 0u);
}

TEST(HelloTest, ClientGetsTheErrorOfAFullServer) {
  EchoWorld world({.connection_count_max = 1});
  auto first = world.connect();
  auto second = rpc::Client::connect(world.network, {"server", 1}, Deadline::after(1s));
  // The client may be accepted and refused right after that, or be refused before.
  if (second) {
    ASSERT_TRUE(coroutine::sleep_for(10ms));
    EchoClient client(**second);
    const auto reply = client.echo(make_echo(""));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), Code::resource_exhausted);
  } else {
    EXPECT_EQ(second.error().code(), Code::resource_exhausted);
  }
  EchoClient client(*first);
  EXPECT_TRUE(client.echo(make_echo("")));
  EXPECT_EQ(world.server.statistics().connection_count, 1u);
  EXPECT_EQ(world.server.statistics().protocol_error_count, 0u);
}

TEST(HelloTest, ClientReportsAPeerThatIsNotAServer) {
  sim::SimulatedNetwork network;
  auto listener = network.listen({"server", 1});
  ASSERT_TRUE(listener);
  auto web = coroutine::spawn("web", [&] {
    auto stream = (*listener)->accept(Deadline::never());
    check(stream.has_value(), "a client connects");
    check(
        (*stream)->try_write(net::bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n\r\n\r\n")).has_value(),
        "the answer is written");
    static_cast<void>(coroutine::sleep_for(10ms));
  });
  const auto client = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
  ASSERT_FALSE(client);
  EXPECT_NE(client.error().message().find("not a corolane frame"), std::string::npos)
      << client.error();
  EXPECT_TRUE(web.join(Deadline::never()));
}

TEST(HelloTest, ClientGivesUpOnAPeerThatSaysNothing) {
  sim::SimulatedNetwork network;
  auto listener = network.listen({"server", 1});
  ASSERT_TRUE(listener);
  const TimePoint start = now();
  const auto client = rpc::Client::connect(network, {"server", 1}, Deadline::after(300ms));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code(), Code::deadline_exceeded);
  EXPECT_EQ(now() - start, 300ms);
}

}  // namespace
}  // namespace corolane::test
