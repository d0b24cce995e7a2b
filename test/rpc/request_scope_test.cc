// SPDX-License-Identifier: MIT
// The scope of a call's request id, as handlers see it behind each door.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t nodes_port = 1;
constexpr std::uint16_t clients_port = 2;

class RequestScopeTest : public testing::Test {
 protected:
  RequestScopeTest() {
    check(server_.add(service_, rpc::Server::Audience::everybody).has_value(), "it can be added");
    server_.add_filter([this](rpc::Context& call, const rpc::Next& next) {
      seen_.emplace_back(call.object()->request_id.scope);
      return next();
    });
    check(server_.listen({"server", nodes_port}, {.door = rpc::Door::nodes}).has_value(),
          "it listens to nodes");
    check(server_.listen({"server", clients_port}, {.door = rpc::Door::clients}).has_value(),
          "it listens to clients");
  }

  std::unique_ptr<rpc::Client> connect(std::uint16_t port, const std::string& requester = {}) {
    auto client = rpc::Client::connect(network_, {"server", port}, Deadline::after(1s),
                                       {.requester = requester});
    check(client.has_value(), "the client connects");
    return *std::move(client);
  }
  // The scope that the handler sees of a call that claims `claimed` itself.
  std::string scope_of(rpc::Client& client, std::string_view claimed = {}) {
    const rpc::ObjectTarget target{
        .id = "room", .request_id = {.caller = "ada", .sequence = 1, .scope = claimed}};
    EchoReply reply;
    EXPECT_TRUE(client.call(echo_method(), make_echo(""), reply, {.object = &target}));
    return seen_.back();
  }

  sim::SimulatedNetwork network_;
  EchoService service_;
  rpc::Server server_{network_};
  std::vector<std::string> seen_;
};

TEST_F(RequestScopeTest, DiffersBetweenClients) {
  auto one = connect(clients_port);
  auto other = connect(clients_port);
  const std::string scope = scope_of(*one);
  EXPECT_EQ(scope.size(), rpc::RequestId::scope_bytes_max);
  EXPECT_EQ(scope_of(*one), scope);
  EXPECT_NE(scope_of(*other), scope);
}

TEST_F(RequestScopeTest, IsTheSameForAllClientsOfOneRequester) {
  const std::string requester = "sixteen or more bytes";
  auto one = connect(clients_port, requester);
  auto other = connect(clients_port, requester);
  const std::string scope = scope_of(*one);
  EXPECT_EQ(scope_of(*other), scope);
  EXPECT_EQ(scope.find("sixteen"), std::string::npos);
}

TEST_F(RequestScopeTest, StaysOverTheConnectionsOfAClient) {
  auto client = connect(clients_port);
  const std::string scope = scope_of(*client);
  network_.reset_all();
  EXPECT_TRUE(client->wait_until_connected(Deadline::after(1s)));
  EXPECT_EQ(scope_of(*client), scope);
  EXPECT_EQ(client->statistics().connect_count, 2U);
}

TEST_F(RequestScopeTest, IsNotWhatAClientClaims) {
  auto victim = connect(clients_port);
  const std::string scope = scope_of(*victim);
  auto mallory = connect(clients_port);
  EXPECT_NE(scope_of(*mallory, scope), scope);
  EXPECT_NE(scope_of(*mallory), "");
}

TEST_F(RequestScopeTest, IsTrustedFromANode) {
  auto node = connect(nodes_port);
  EXPECT_EQ(scope_of(*node), "");
  EXPECT_EQ(scope_of(*node, "that of a client"), "that of a client");
}

TEST_F(RequestScopeTest, BelongsToOneConnectionWithoutARequester) {
  std::set<std::string> scopes;
  for (int i = 0; i < 3; ++i) {
    RawPeer peer(network_, clients_port);
    peer.say_hello({});
    peer.call_object({.id = "room", .request_id = {.caller = "ada", .sequence = 1}});
    ASSERT_TRUE(peer.receive());
    ASSERT_TRUE(peer.receive());
    EXPECT_EQ(seen_.back().size(), rpc::RequestId::scope_bytes_max);
    scopes.insert(seen_.back());
  }
  EXPECT_EQ(scopes.size(), 3U);
}

TEST_F(RequestScopeTest, AGuessableRequesterIsRefused) {
  for (const std::size_t size : {1UZ, 15UZ, 33UZ, 1'000UZ}) {
    RawPeer peer(network_, clients_port);
    peer.say_hello({.requester = std::string(size, 'x')});
    EXPECT_EQ(peer.receive_bye().message(), "the requester of a hello has 16 to 32 bytes");
  }
}

}  // namespace
}  // namespace corolane::test
