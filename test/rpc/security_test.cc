// Who is let in: clusters, shared keys and their proofs.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "net/crypto.h"
#include "rpc/detail/handshake.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"
#include "test/support/matchers.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

const std::string key = "a key of thirty-two random bytes";

class SecurityTest : public testing::Test {
 protected:
  Result<void> try_call(const rpc::Security& server, const rpc::Security& client) {
    EchoWorld world({}, {}, {.security = server});
    auto connected = rpc::Client::connect(world.network, {"server", 1}, Deadline::after(1s),
                                          {.security = client});
    if (!connected) return connected.error();
    const auto reply = EchoClient(**connected).echo(make_echo("in"));
    if (!reply) return reply.error();
    return {};
  }
};

TEST_F(SecurityTest, SameClusterAndKeyAreLetIn) {
  EXPECT_TRUE(try_call({.cluster = "eu"}, {.cluster = "eu"}));
  EXPECT_TRUE(try_call({.shared_key = key}, {.shared_key = key}));
  EXPECT_TRUE(try_call({.cluster = "eu", .shared_key = key}, {.cluster = "eu", .shared_key = key}));
}

TEST_F(SecurityTest, OtherClusterIsKeptOut) {
  const auto result = try_call({.cluster = "eu"}, {.cluster = "us"});
  ASSERT_THAT(result, fails_with(Code::unauthenticated));
  EXPECT_NE(result.error().message().find("both ends have to name the same cluster"),
            std::string::npos)
      << result;
  EXPECT_THAT(try_call({.cluster = "eu"}, {}), fails_with(Code::unauthenticated));
  EXPECT_THAT(try_call({}, {.cluster = "eu"}), fails_with(Code::unauthenticated));
}

TEST_F(SecurityTest, OtherKeyOrNoneIsKeptOut) {
  EXPECT_THAT(try_call({.shared_key = key}, {.shared_key = key + "."}),
              fails_with(Code::unauthenticated));
  EXPECT_THAT(try_call({.shared_key = key}, {}), fails_with(Code::unauthenticated));
}

TEST_F(SecurityTest, ClientWithAKeyTrustsNoServerWithoutIt) {
  EXPECT_THAT(try_call({}, {.shared_key = key}), fails_with(Code::unauthenticated));
}

TEST_F(SecurityTest, ShortKeyIsRefusedByTheServer) {
  EchoWorld world;
  const auto listening = world.server.listen({"server", 2}, {.security = {.shared_key = "short"}});
  EXPECT_THAT(listening, fails_with(Code::invalid_argument));
}

TEST_F(SecurityTest, RequestBeforeTheProofIsNotServed) {
  EchoWorld world({}, {}, {.security = {.shared_key = key}});
  RawPeer peer(world);
  peer.say_hello({.nonce = std::string(32, 'n')});
  peer.call("sneaked in");
  EXPECT_EQ(peer.receive_bye().code(), Code::unauthenticated);
  EXPECT_TRUE(world.service.echoed.empty());
}

// What a client with the key would send, given the hellos of a connection.
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

TEST_F(SecurityTest, ProofIsThatOfTheProtocol) {
  EchoWorld world({}, {}, {.security = {.shared_key = key}});
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

TEST_F(SecurityTest, ProofOfAnEarlierConnectionIsWorthNothing) {
  EchoWorld world({}, {}, {.security = {.shared_key = key}});
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
  EchoWorld world({}, {}, {.security = {.shared_key = key}});
  RawPeer peer(world);
  peer.say_hello({.nonce = std::string(32, 'n')});
  peer.send({.type = FrameType::auth}, std::string(32, 'p'));
  while (const auto received = peer.receive()) EXPECT_NE(received->header.type, FrameType::auth);
}

TEST_F(SecurityTest, ProofThatIsSentBackIsWorthNothing) {
  using rpc::detail::Handshake;
  const rpc::Security security{.shared_key = key};
  // Somebody in between answers a client with what that sends itself.
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
  for (const auto& parts : {RawPeer::HelloParts{.caller_id = "short"},
                            RawPeer::HelloParts{.nonce = std::string(32, 'n')}}) {
    EchoWorld world;
    RawPeer peer(world);
    peer.say_hello(parts);
    const Error bye = peer.receive_bye();
    EXPECT_TRUE(bye.code() == Code::invalid_argument || bye.code() == Code::unauthenticated) << bye;
  }
  EchoWorld world({}, {}, {.security = {.shared_key = key}});
  RawPeer peer(world);
  peer.say_hello({.nonce = "short"});
  EXPECT_EQ(peer.receive_bye().code(), Code::invalid_argument);
}

TEST_F(SecurityTest, HelloAboveAKibibyteIsRefused) {
  EchoWorld world;
  RawPeer peer(world);
  peer.say_hello({.cluster = std::string(2000, 'c')});
  EXPECT_EQ(peer.receive_bye().code(), Code::resource_exhausted);
}

TEST_F(SecurityTest, CertificateIsAskedForWhereOneIsNeeded) {
  EchoWorld world({}, {}, {.security = {.needs_peer_certificate = true}});
  RawPeer peer(world);
  peer.say_hello({});
  EXPECT_EQ(peer.receive_bye().message(), "a client certificate is needed here");
}

TEST_F(SecurityTest, OnlyPublicMethodsExistForClientsFromOutside) {
  EchoWorld world;
  ASSERT_TRUE(world.server.listen({"server", 2}, {.door = rpc::Door::clients}));
  auto outside = rpc::Client::connect(world.network, {"server", 2}, Deadline::after(1s));
  ASSERT_TRUE(outside);
  EXPECT_THAT(EchoClient(**outside).echo(make_echo("")), fails_with(Code::unimplemented));
}

}  // namespace
}  // namespace corolane::test
