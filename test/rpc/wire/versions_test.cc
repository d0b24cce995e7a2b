// SPDX-License-Identifier: MIT
// Which version of the protocol two ends agree on, and what a peer of a newer version may send.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "rpc/options.h"
#include "rpc/wire/detail/handshake.h"
#include "rpc/wire/frame.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using rpc::FrameType;
using rpc::ProtocolVersions;
using rpc::detail::Handshake;

struct Agreement {
  std::optional<std::uint64_t> version = {};  // None when an end refuses.
  std::string refusal = {};
};

// The first two hellos of a connection between ends with these versions.
Agreement agree(ProtocolVersions of_client, ProtocolVersions of_server) {
  const rpc::Security security;
  Handshake client(Handshake::Role::client, security, {.versions = of_client});
  Handshake server(Handshake::Role::server, security, {.versions = of_server});
  const auto hello_of = [](const Handshake& end) {
    return rpc::Frame{.header = {.payload_size = static_cast<std::uint32_t>(end.hello().size()),
                                 .type = FrameType::hello,
                                 .call_id = rpc::hello_magic,
                                 .method_id = end.version()},
                      .message = net::bytes_of(end.hello())};
  };
  if (const auto taken = server.take(hello_of(client)); !taken) {
    return {.refusal = taken.error().message()};
  }
  if (const auto taken = client.take(hello_of(server)); !taken) {
    return {.refusal = taken.error().message()};
  }
  EXPECT_EQ(client.version(), server.version());
  return {.version = client.version()};
}

TEST(VersionsTest, BothEndsUseTheNewestThatBothSpeak) {
  EXPECT_EQ(agree({.oldest = 2, .newest = 4}, {.oldest = 3, .newest = 5}).version, 4u);
  EXPECT_EQ(agree({.oldest = 3, .newest = 5}, {.oldest = 2, .newest = 4}).version, 4u);
  EXPECT_EQ(agree({.oldest = 1, .newest = 1}, {.oldest = 1, .newest = 9}).version, 1u);
}

TEST(VersionsTest, EndsWithoutACommonVersionNameThoseThatTheySpeak) {
  EXPECT_EQ(agree({.oldest = 1, .newest = 2}, {.oldest = 3, .newest = 5}).refusal,
            "the peer speaks versions 1 to 2 of the protocol, and this end versions 3 to 5");
  EXPECT_EQ(agree({.oldest = 6, .newest = 6}, {.oldest = 3, .newest = 5}).refusal,
            "the peer speaks version 6 of the protocol, and this end versions 3 to 5");
}

TEST(VersionsTest, VersionZeroIsNone) {
  EXPECT_FALSE(agree({.oldest = 0, .newest = 0}, {.oldest = 1, .newest = 1}).version);
}

TEST(VersionsTest, ServerThatChoosesAVersionOfItsOwnIsRefused) {
  const rpc::Security security;
  for (const std::uint64_t version : {std::uint64_t{1}, std::uint64_t{4}}) {
    Handshake client(Handshake::Role::client, security, {.versions = {.oldest = 2, .newest = 3}});
    const auto taken = client.take(
        {.header = {.type = FrameType::hello, .call_id = rpc::hello_magic, .method_id = version}});
    ASSERT_FALSE(taken) << version;
    EXPECT_EQ(taken.error().code(), Code::unimplemented);
  }
}

TEST(VersionsTest, FramesOfANewerClientThatMayBeSkippedAreSkipped) {
  EchoWorld world;
  RawPeer peer(world);
  peer.say_hello({});
  ASSERT_EQ(peer.receive()->header.type, FrameType::hello);

  peer.send({.type = FrameType{0x90}, .call_id = 1}, "of a later version");
  peer.call("hello");

  const auto answer = peer.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->header.type, FrameType::reply);
  EXPECT_EQ(answer->header.code, 0);
}

TEST(VersionsTest, FrameOfANewerClientThatMayNotBeSkippedEndsTheConnection) {
  EchoWorld world;
  RawPeer peer(world);
  peer.say_hello({});
  ASSERT_EQ(peer.receive()->header.type, FrameType::hello);
  peer.send({.type = FrameType{0x70}});
  EXPECT_EQ(peer.receive_bye().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace corolane::test
