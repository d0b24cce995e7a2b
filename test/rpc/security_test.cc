// SPDX-License-Identifier: MIT
// Which peers may connect: clusters, shared keys and their proofs.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "net/crypto.h"
#include "rpc/wire/detail/handshake.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

const std::string key = "a key of thirty-two random bytes";

class SecurityTest : public testing::Test {
 protected:
  Result<void> try_call(const rpc::Security& server, const rpc::Security& client) {
    EchoWorld world({}, {}, {.security = server, .door = rpc::Door::nodes});
    auto connected = rpc::Client::connect(world.network, {"server", 1}, Deadline::after(1s),
                                          {.security = client});
    if (!connected) return connected.error();
    const auto reply = EchoClient(**connected).echo(make_echo("in"));
    if (!reply) return reply.error();
    return {};
  }
};

TEST_F(SecurityTest, PeersOfTheSameClusterAndKeyMayConnect) {
  EXPECT_TRUE(try_call({.cluster = "eu"}, {.cluster = "eu"}));
  EXPECT_TRUE(try_call({.shared_key = key}, {.shared_key = key}));
  EXPECT_TRUE(try_call({.cluster = "eu", .shared_key = key}, {.cluster = "eu", .shared_key = key}));
}

TEST_F(SecurityTest, PeersOfAnotherClusterAreRejected) {
  const auto result = try_call({.cluster = "eu"}, {.cluster = "us"});
  ASSERT_THAT(result, fails_with(Code::unauthenticated));
  EXPECT_NE(result.error().message().find("both ends have to name the same cluster"),
            std::string::npos)
      << result;
  EXPECT_THAT(try_call({.cluster = "eu"}, {}), fails_with(Code::unauthenticated));
  EXPECT_THAT(try_call({}, {.cluster = "eu"}), fails_with(Code::unauthenticated));
}

TEST_F(SecurityTest, ServerHidesItsClusterFromPeersThatDoNotNameIt) {
  for (const std::string& own_key : {std::string(), key}) {
    EchoWorld world(
        {.hello_time_max = 1s}, {},
        {.security = {.cluster = "hush", .shared_key = own_key}, .door = rpc::Door::nodes});
    for (const char* named : {"", "hus", "other", "HUSH"}) {
      RawPeer peer(world);
      peer.say_hello({.cluster = named, .nonce = std::string(32, 'n')});
      while (const auto received = peer.receive()) {
        EXPECT_EQ(received->message.find("hush"), std::string::npos) << received->message;
      }
    }
    RawPeer silent(world);
    while (const auto received = silent.receive()) {
      EXPECT_EQ(received->message.find("hush"), std::string::npos) << received->message;
    }
  }
}

TEST_F(SecurityTest, ErrorOfAClientDoesNotNameItsClusterToAnotherServer) {
  using rpc::detail::Handshake;
  const rpc::Security own{.cluster = "hush"};
  const rpc::Security other{.cluster = "other"};
  Handshake client(Handshake::Role::client, own, {});
  const Handshake server(Handshake::Role::server, other, {});
  const auto refused = client.take({.header = {.type = FrameType::hello,
                                               .call_id = rpc::hello_magic,
                                               .method_id = rpc::protocol_version},
                                    .extension = {},
                                    .message = net::bytes_of(server.hello())});
  ASSERT_THAT(refused, fails_with(Code::unauthenticated));
  EXPECT_EQ(refused.error().message().find("hush"), std::string::npos) << refused;
}

TEST_F(SecurityTest, PeersWithAnotherKeyOrNoneAreRejected) {
  EXPECT_THAT(try_call({.shared_key = key}, {.shared_key = key + "."}),
              fails_with(Code::unauthenticated));
  EXPECT_THAT(try_call({.shared_key = key}, {}), fails_with(Code::unauthenticated));
}

TEST_F(SecurityTest, ClientWithAKeyRejectsAServerWithoutIt) {
  EXPECT_THAT(try_call({}, {.shared_key = key}), fails_with(Code::unauthenticated));
}

TEST_F(SecurityTest, ShortKeyIsRefusedByTheServer) {
  EchoWorld world;
  const auto listening = world.server.listen(
      {"server", 2}, {.security = {.shared_key = "short"}, .door = rpc::Door::nodes});
  EXPECT_THAT(listening, fails_with(Code::invalid_argument));
}

TEST_F(SecurityTest, RequestBeforeTheProofIsNotServed) {
  EchoWorld world({}, {}, {.security = {.shared_key = key}, .door = rpc::Door::nodes});
  RawPeer peer(world);
  peer.say_hello({.nonce = std::string(32, 'n')});
  peer.call("sneaked in");
  EXPECT_EQ(peer.receive_bye().code(), Code::unauthenticated);
  EXPECT_TRUE(world.service.echoed.empty());
}

// The proof that a client with the key would send, given the hellos of a connection.
std::string client_proof(const std::string& client_hello, const std::string& server_hello) {
  const auto size = [](const std::string& text) {
    std::string bytes(4, '\0');
    bytes[0] = static_cast<char>(text.size());
    return bytes;
  };
  const auto digest = net::hmac_sha256(key, {"corolane client 1", size(client_hello), client_hello,
                                             size(server_hello), server_hello});
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

TEST_F(SecurityTest, ProofFollowsTheProtocol) {
  EchoWorld world({}, {}, {.security = {.shared_key = key}, .door = rpc::Door::nodes});
  RawPeer peer(world);
  peer.say_hello({.nonce = std::string(32, 'n')});
  const auto hello = peer.receive();
  ASSERT_TRUE(hello);
  peer.send({.type = FrameType::auth}, client_proof(peer.own_hello, hello->message));
  const auto auth = peer.receive();
  ASSERT_TRUE(auth);
  EXPECT_EQ(auth->header.type, FrameType::auth);
  peer.call("in");
  EXPECT_EQ(peer.receive()->header.type, FrameType::reply);
}

TEST_F(SecurityTest, ReplayedProofIsRejected) {
  EchoWorld world({}, {}, {.security = {.shared_key = key}, .door = rpc::Door::nodes});
  std::string proof;
  {
    RawPeer peer(world);
    peer.say_hello({.nonce = std::string(32, 'n')});
    proof = client_proof(peer.own_hello, peer.receive()->message);
  }
  RawPeer peer(world);
  peer.say_hello({.nonce = std::string(32, 'n')});
  peer.send({.type = FrameType::auth}, proof);
  EXPECT_EQ(peer.receive_bye().code(), Code::unauthenticated);
}

TEST_F(SecurityTest, ServerProvesNothingToAStranger) {
  EchoWorld world({}, {}, {.security = {.shared_key = key}, .door = rpc::Door::nodes});
  RawPeer peer(world);
  peer.say_hello({.nonce = std::string(32, 'n')});
  peer.send({.type = FrameType::auth}, std::string(32, 'p'));
  while (const auto received = peer.receive()) EXPECT_NE(received->header.type, FrameType::auth);
}

TEST_F(SecurityTest, ReflectedProofIsRejected) {
  using rpc::detail::Handshake;
  const rpc::Security security{.shared_key = key};
  // A man in the middle reflects a client's own frames to it.
  Handshake client(Handshake::Role::client, security, {});
  const auto frame = [](FrameType type, std::string_view message) {
    return rpc::Frame{
        .header = {.type = type, .call_id = rpc::hello_magic, .method_id = rpc::protocol_version},
        .extension = {},
        .message = net::bytes_of(message)};
  };
  const auto proof = client.take(frame(FrameType::hello, client.hello()));
  ASSERT_TRUE(proof && *proof);
  const std::string_view bytes(reinterpret_cast<const char*>((*proof)->data()), (*proof)->size());
  EXPECT_THAT(client.take(frame(FrameType::auth, bytes)), fails_with(Code::unauthenticated));
  EXPECT_FALSE(client.is_done());
}

TEST_F(SecurityTest, MalformedHellosAreNamed) {
  for (const auto& parts : {RawPeer::HelloParts{.requester = "short"},
                            RawPeer::HelloParts{.nonce = std::string(32, 'n')}}) {
    EchoWorld world;
    RawPeer peer(world);
    peer.say_hello(parts);
    const Error bye = peer.receive_bye();
    EXPECT_TRUE(bye.code() == Code::invalid_argument || bye.code() == Code::unauthenticated) << bye;
  }
  EchoWorld world({}, {}, {.security = {.shared_key = key}, .door = rpc::Door::nodes});
  RawPeer peer(world);
  peer.say_hello({.nonce = "short"});
  EXPECT_EQ(peer.receive_bye().code(), Code::invalid_argument);
}

TEST_F(SecurityTest, HelloAboveATokenAndAKibibyteIsRefused) {
  EchoWorld world;
  RawPeer peer(world);
  peer.say_hello({.cluster = std::string(rpc::hello_bytes_max, 'c')});
  EXPECT_EQ(peer.receive_bye().code(), Code::resource_exhausted);
}

TEST_F(SecurityTest, MissingCertificateIsReported) {
  EchoWorld world({}, {}, {.security = {.needs_peer_certificate = true}, .door = rpc::Door::nodes});
  RawPeer peer(world);
  peer.say_hello({});
  EXPECT_EQ(peer.receive_bye().message(), "a client certificate is required here");
}

TEST_F(SecurityTest, OnlyPublicMethodsExistForClientsFromOutside) {
  EchoWorld world;
  ASSERT_TRUE(world.server.listen({"server", 2}, {.door = rpc::Door::clients}));
  auto outside = rpc::Client::connect(world.network, {"server", 2}, Deadline::after(1s));
  ASSERT_TRUE(outside);
  EXPECT_THAT(EchoClient(**outside).echo(make_echo("")), fails_with(Code::unimplemented));
}

TEST_F(SecurityTest, ServiceForNodesExistsForNodesOnly) {
  using Audience = rpc::Server::Audience;
  for (const auto audience : {Audience::nodes, Audience::everybody}) {
    sim::SimulatedNetwork network;
    EchoService service;
    rpc::Server server(network);
    ASSERT_TRUE(server.add(service, audience));
    ASSERT_TRUE(server.listen({"server", 1}, {.door = rpc::Door::nodes}));
    ASSERT_TRUE(server.listen({"server", 2}, {.door = rpc::Door::clients}));
    auto inside = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
    auto outside = rpc::Client::connect(network, {"server", 2}, Deadline::after(1s));
    ASSERT_TRUE(inside && outside);
    EXPECT_TRUE(EchoClient(**inside).echo(make_echo("in")));
    const auto reply = EchoClient(**outside).echo(make_echo("out"));
    if (audience == Audience::everybody) {
      EXPECT_TRUE(reply) << reply;
    } else {
      EXPECT_THAT(reply, fails_with(Code::unimplemented));
    }
    EXPECT_EQ(server.methods(service, rpc::Door::clients).empty(), audience == Audience::nodes);
  }
}

TEST_F(SecurityTest, HandlerSeesNoNodeOnlyDataFromAClient) {
  sim::SimulatedNetwork network;
  EchoService service;
  rpc::Server server(network);
  ASSERT_TRUE(server.add(service, rpc::Server::Audience::everybody));
  std::vector<rpc::ObjectTarget> seen;
  server.add_filter([&](rpc::Context& call, const rpc::Next& next) {
    seen.push_back(*call.object());
    return next();
  });
  ASSERT_TRUE(server.listen({"server", 1}, {.door = rpc::Door::nodes}));
  ASSERT_TRUE(server.listen({"server", 2}, {.door = rpc::Door::clients}));
  const auto chain =
      std::to_array<rpc::ObjectCall>({{.method = "test.Room/Enter", .id = "forged"}});
  const rpc::ObjectTarget target{
      .id = "ada", .node_epoch = 1, .partition_epoch = 2, .chain = chain};
  for (const std::uint16_t port : {std::uint16_t{1}, std::uint16_t{2}}) {
    auto client = rpc::Client::connect(network, {"server", port}, Deadline::after(1s));
    ASSERT_TRUE(client);
    EchoReply reply;
    EXPECT_TRUE((*client)->call(echo_method(), make_echo(""), reply, {.object = &target}));
  }
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].node_epoch, 1u);
  EXPECT_EQ(seen[0].partition_epoch, 2u);
  EXPECT_EQ(seen[0].chain.size(), 1u);
  EXPECT_EQ(seen[1].node_epoch, 0u);
  EXPECT_EQ(seen[1].partition_epoch, 0u);
  EXPECT_EQ(seen[1].chain.size(), 0u);
}

}  // namespace
}  // namespace corolane::test
