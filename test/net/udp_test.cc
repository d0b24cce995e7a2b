// SPDX-License-Identifier: MIT
#include "net/udp.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "coroutine/testing/matchers.h"

namespace corolane::net {
namespace {

using test::fails_with;

TEST(UdpPeerTest, IsACompactEndpoint) {
  for (const Endpoint& endpoint :
       {Endpoint{.address = "192.0.2.7", .port = 80}, Endpoint{.address = "::1", .port = 65535}}) {
    const auto peer = to_udp_peer(endpoint);
    ASSERT_TRUE(peer) << peer;
    EXPECT_EQ(to_endpoint(*peer), endpoint);
  }
  EXPECT_LE(sizeof(UdpPeer), 24u);
}

TEST(UdpPeerTest, HasANumericAddress) {
  EXPECT_THAT(to_udp_peer({.address = "localhost"}), fails_with(Code::invalid_argument));
  EXPECT_THAT(to_udp_peer({.address = "unix:@name"}), fails_with(Code::invalid_argument));
}

TEST(UdpPeerTest, IsAKey) {
  std::unordered_set<UdpPeer> peers;
  for (const char* address : {"10.0.0.1", "10.0.0.2", "::1", "::2"}) {
    for (std::uint16_t port = 1; port <= 100; ++port) {
      peers.insert(*to_udp_peer({.address = address, .port = port}));
    }
  }
  EXPECT_EQ(peers.size(), 400u);
  EXPECT_TRUE(peers.contains(*to_udp_peer({.address = "::2", .port = 100})));
  EXPECT_FALSE(peers.contains(*to_udp_peer({.address = "::2", .port = 101})));
}

}  // namespace
}  // namespace corolane::net
