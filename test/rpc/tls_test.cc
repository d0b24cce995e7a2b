// SPDX-License-Identifier: MIT
// Mutual TLS between the nodes of a cluster: which peers are served, with which identity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "test/net/tls/tls_world.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string key = "a key of thirty-two random bytes";

// A server behind TLS that records the identity of its caller.
struct SecureWorld {
  explicit SecureWorld(net::TlsOptions client, const rpc::Security& security,
                       net::TlsOptions server_options = net::server_tls(),
                       rpc::Door door = rpc::Door::nodes)
      : tls({.server = std::move(server_options), .client = std::move(client)}),
        server(tls.server) {
    server.add_filter([this](rpc::Context& call, const rpc::Next& next) {
      identity = call.peer_identity();
      if (call.object() != nullptr) scope = call.object()->request_id.scope;
      return next();
    });
    check(server.add(service, rpc::Server::Audience::everybody).has_value(), "the service is new");
    check(server.listen(tls.endpoint, {.security = security, .door = door}).has_value(),
          "the port is free");
  }

  Result<void> call(const rpc::Security& security = {}) {
    auto client = rpc::Client::connect(tls.client, {"server", 1}, Deadline::after(2s),
                                       {.security = security});
    if (!client) return client.error();
    auto reply = EchoClient(**client).echo(make_echo("in"), {.deadline = Deadline::after(2s)});
    if (!reply) return reply.error();
    return {};
  }

  net::TlsWorld tls;
  EchoService service;
  rpc::Server server;
  std::string identity = "nobody called";
  std::string scope;  // RequestId::scope of the last call of an object.
};

net::TlsOptions of_another_ca() {
  return net::tls_options(net::foreign_authority().issue({.dns_names = {"client-1"}}));
}

net::TlsOptions demanding_server() {
  net::TlsOptions options = net::server_tls();
  options.needs_peer_certificate = true;
  return options;
}

TEST(RpcTlsTest, ANodeWithACertificateOfTheClusterIsServedUnderItsName) {
  SecureWorld world(net::named_client_tls(), {.needs_peer_certificate = true});
  const auto called = world.call();
  EXPECT_TRUE(called) << called;
  EXPECT_EQ(world.identity, "client-1");
}

TEST(RpcTlsTest, RequestIdsBelongToACertificateAcrossConnections) {
  const auto scope_by = [](net::TlsOptions client, const std::string& requester) {
    SecureWorld world(std::move(client), {}, net::server_tls(), rpc::Door::clients);
    RawPeer peer(world.tls.client);
    peer.say_hello({.requester = requester});
    peer.call_object({.id = "room", .request_id = {.caller = "ada", .sequence = 1}});
    EXPECT_TRUE(peer.receive());
    EXPECT_TRUE(peer.receive());
    EXPECT_EQ(world.scope.size(), rpc::RequestId::scope_bytes_max);
    return world.scope;
  };
  const std::string requester = "sixteen or more bytes";
  const std::string named = scope_by(net::named_client_tls(), "");
  EXPECT_EQ(scope_by(net::named_client_tls(), ""), named);
  EXPECT_NE(scope_by(net::named_client_tls(), requester), named);
  EXPECT_NE(scope_by(net::client_tls(), requester), scope_by(net::named_client_tls(), requester))
      << "a requester is worth nothing with another certificate";
}

TEST(RpcTlsTest, AClientWithoutACertificateIsRefusedByTheServerThatNeedsOne) {
  SecureWorld world(net::client_tls(), {.needs_peer_certificate = true});
  const auto called = world.call();
  ASSERT_THAT(called, fails_with(Code::unauthenticated));
  EXPECT_THAT(called.error().message(), HasSubstr("a client certificate is required here"));
  EXPECT_EQ(world.identity, "nobody called");
}

TEST(RpcTlsTest, AClientWithoutACertificateIsRefusedByTheContextThatNeedsOne) {
  SecureWorld world(net::client_tls(), {}, demanding_server());
  const auto called = world.call();
  ASSERT_THAT(called, fails_with(Code::unauthenticated));
  EXPECT_THAT(called.error().message(), HasSubstr("demands a certificate of ours"));
}

TEST(RpcTlsTest, AClientOfAnotherCaIsRefused) {
  SecureWorld world(of_another_ca(), {.needs_peer_certificate = true});
  const auto called = world.call();
  ASSERT_THAT(called, fails_with(Code::unauthenticated));
  EXPECT_THAT(called.error().message(), HasSubstr("refuses our certificate"));
  EXPECT_EQ(world.identity, "nobody called");
}

TEST(RpcTlsTest, ANamelessClientIsServedWhereNoCertificateIsNeeded) {
  SecureWorld world(net::client_tls(), {});
  EXPECT_TRUE(world.call());
  EXPECT_EQ(world.identity, "");
}

TEST(RpcTlsTest, ASharedKeyAndTlsGoTogether) {
  SecureWorld world(net::named_client_tls(),
                    {.cluster = "eu", .shared_key = key, .needs_peer_certificate = true});
  EXPECT_TRUE(world.call({.cluster = "eu", .shared_key = key}));
  EXPECT_EQ(world.identity, "client-1");
  EXPECT_THAT(world.call({.cluster = "eu", .shared_key = key + "."}),
              fails_with(Code::unauthenticated));
}

TEST(RpcTlsTest, APlainClientOfATlsServerIsTurnedAway) {
  SecureWorld world(net::client_tls(), {});
  auto client = rpc::Client::connect(world.tls.network, {"server", 1}, Deadline::after(2s));
  EXPECT_FALSE(client);
}

TEST(RpcTlsTest, ManyConcurrentCallsAreAnsweredOverOneConnection) {
  SecureWorld world(net::named_client_tls(), {.needs_peer_certificate = true});
  auto client = rpc::Client::connect(world.tls.client, {"server", 1}, Deadline::after(2s));
  ASSERT_TRUE(client) << client;
  coroutine::TaskGroup callers;
  for (int number = 0; number < 200; ++number) {
    const auto spawned = callers.spawn("caller", [&, number]() -> Result<void> {
      const std::string text(static_cast<std::size_t>(number) * 100, 'x');
      auto reply = EchoClient(**client).echo(make_echo(text), {.deadline = Deadline::after(5s)});
      if (!reply) return reply.error();
      EXPECT_EQ(reply->text(), text);
      return {};
    });
    ASSERT_TRUE(spawned);
  }
  EXPECT_TRUE(callers.join(Deadline::never()));
  EXPECT_EQ((*client)->statistics().connect_count, 1u);
}

}  // namespace
}  // namespace corolane::test
