// SPDX-License-Identifier: MIT
// The shares of one address in a server, as attackers and other clients see them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"
#include "net/http/http_server.h"
#include "rpc/http/http_face.h"
#include "test/rpc/public_echo.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

// Runs `body` with a thousand stacks, minus a few that are reserved for control work.
constexpr std::size_t stack_count = 1'000;
void run_with_few_stacks(const std::function<void()>& body) {
  coroutine::VirtualTime time;
  coroutine::Scheduler scheduler(time,
                                 {.stacks = {.stack_count_max = stack_count, .control_count = 0}});
  const auto ran = scheduler.run("main", [&body] { body(); });
  ASSERT_TRUE(ran) << ran;
}

// A client that says hello and reads nothing unless the test does.
std::unique_ptr<RawPeer> knock(PublicWorld& world, const std::string& address) {
  world.network.set_client_address(address);
  auto peer = std::make_unique<RawPeer>(world.network);
  peer->say_hello({});
  return peer;
}

// Sends calls that wait for up to an hour.
void flood(RawPeer& peer, std::uint64_t count, std::uint64_t first_id = 1) {
  const std::string request = make_sleep(1h).SerializeAsString();
  for (std::uint64_t id = first_id; id < first_id + count; ++id) {
    peer.send({.type = FrameType::request,
               .call_id = id,
               .method_id = rpc::method_id("corolane.test.Echo/Sleep"),
               .time = 3'600'000'000},
              request);
  }
}

void settle() { ASSERT_TRUE(coroutine::sleep_for(50ms)); }

RawPeer::Received reply_to(RawPeer& peer, std::uint64_t call_id) {
  while (auto received = peer.receive(1s)) {
    const rpc::FrameHeader& header = received->header;
    if (header.type == FrameType::reply && header.call_id == call_id) return *std::move(received);
  }
  return {};
}

TEST(AddressShareTest, OneAddressCannotTakeAllCalls) {
  run_with_few_stacks([] {
    PublicWorld world;
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (int i = 0; i < 5; ++i) {
      peers.push_back(knock(world, "10.0.0.1"));
      flood(*peers.back(), 300);
    }
    settle();
    EXPECT_EQ(world.server.statistics().running_count, stack_count / 2);
    EXPECT_EQ(world.server.statistics().above_share_count, 1'500 - stack_count / 2);

    const auto player = world.connect("10.0.0.2");
    ASSERT_TRUE(player);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(EchoClient(**player).echo(make_echo("a move")));
  });
}

TEST(AddressShareTest, RefusalSaysWhyAndWhenToRetry) {
  run_with_few_stacks([] {
    PublicWorld world;
    const auto peer = knock(world, "10.0.0.1");
    flood(*peer, 500);
    settle();
    flood(*peer, 1, 9'999);
    const RawPeer::Received reply = reply_to(*peer, 9'999);
    EXPECT_EQ(code_from_number(reply.header.code), Code::resource_exhausted);
    EXPECT_EQ(reply.header.time, 100u);  // Milliseconds.
    EXPECT_FALSE(reply.header.maybe_executed);
    EXPECT_EQ(reply.message, "the share of calls of this address is taken already");
  });
}

TEST(AddressShareTest, LastTenthOfTheStacksIsForAddressesThatHoldNone) {
  run_with_few_stacks([] {
    PublicWorld world;
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (int i = 0; i < 30; ++i) {
      peers.push_back(knock(world, "10.0.0." + std::to_string(i % 10)));
      flood(*peers.back(), 300);
    }
    settle();
    // Each of the late addresses has one call. The server uses some stacks itself.
    EXPECT_NEAR(static_cast<double>(world.server.statistics().running_count),
                stack_count * 9.0 / 10, 10);

    const auto player = world.connect("10.0.1.1");
    ASSERT_TRUE(player);
    EXPECT_TRUE(EchoClient(**player).echo(make_echo("a move")));
    flood(*peers.front(), 1, 9'999);
    const RawPeer::Received refused = reply_to(*peers.front(), 9'999);
    EXPECT_EQ(code_from_number(refused.header.code), Code::resource_exhausted);
  });
}

TEST(AddressShareTest, LoginsCountAsCallsOfTheirAddress) {
  run_with_few_stacks([] {
    sim::SimulatedNetwork network;
    rpc::Server server(network);
    const auto listening = server.listen(
        {"server", 1},
        {.door = rpc::Door::clients,
         .login = [](std::string_view token, const rpc::LoginPeer&) -> Result<rpc::Principal> {
           if (token == "slow") static_cast<void>(coroutine::sleep_for(3s));
           return rpc::Principal{.id = std::string(token)};
         }});
    ASSERT_TRUE(listening);
    network.set_client_address("10.0.0.1");
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (std::size_t i = 0; i < stack_count; ++i) {
      peers.push_back(std::make_unique<RawPeer>(network));
      peers.back()->say_hello({.token = "slow"});
    }
    ASSERT_TRUE(coroutine::sleep_for(100ms));
    EXPECT_EQ(server.call_shares().statistics().count, stack_count / 2);
    EXPECT_EQ(server.call_shares().statistics().refused_count, stack_count - stack_count / 2);
    // Some leave during their login.
    for (std::size_t i = 0; i < stack_count / 4; ++i) peers[i].reset();

    network.set_client_address("10.0.0.2");
    const auto player = rpc::Client::connect(
        network, {"server", 1}, Deadline::after(1s),
        {.token = []() -> Result<std::string> { return std::string("quick"); }});
    EXPECT_TRUE(player) << player.error();
    ASSERT_TRUE(coroutine::sleep_for(4s));
    EXPECT_EQ(server.call_shares().statistics().count, 0u);
  });
}

TEST(AddressShareTest, StacksThatOthersTakeCountAsWell) {
  run_with_few_stacks([] {
    PublicWorld world;
    coroutine::TaskGroup work;
    for (std::size_t i = 0; i < stack_count * 9 / 10; ++i) {
      ASSERT_TRUE(work.spawn("work", [] { static_cast<void>(coroutine::sleep_for(1h)); }));
    }
    const auto peer = knock(world, "10.0.0.1");
    flood(*peer, 100);
    settle();
    EXPECT_EQ(world.server.statistics().running_count, 1u);
    work.cancel_and_join();
  });
}

TEST(AddressShareTest, NodesHaveNoShares) {
  run_with_few_stacks([] {
    PublicWorld world;
    const auto node = world.connect("10.0.0.1", 2);
    ASSERT_TRUE(node);
    coroutine::TaskGroup calls;
    int ok_count = 0;
    for (int i = 0; i < 400; ++i) {
      ASSERT_TRUE(calls.spawn("call", [&] {
        if (EchoClient(**node).sleep(make_sleep(1s))) ++ok_count;
      }));
    }
    EXPECT_TRUE(calls.join(Deadline::after(10s)));
    EXPECT_EQ(ok_count, 400);
    EXPECT_EQ(world.server.call_shares().statistics().address_count, 0u);
  });
}

TEST(AddressShareTest, CallsOfOneMethodLeaveATenthToNewcomers) {
  PublicWorld world({.calls_per_method_max = 100});
  const auto peer = knock(world, "10.0.0.1");
  flood(*peer, 300);
  settle();
  EXPECT_EQ(world.server.statistics().running_count, 90u);
  const auto player = world.connect("10.0.0.2");
  ASSERT_TRUE(player);
  EXPECT_TRUE(EchoClient(**player).sleep(make_sleep(1s)));
}

TEST(AddressShareTest, FloodThatEndsLeavesNothingBehind) {
  run_with_few_stacks([] {
    net::ConnectionBound bound({.count_max = 100});
    {
      PublicWorld world({}, &bound);
      for (int round = 0; round < 20; ++round) {
        std::vector<std::unique_ptr<RawPeer>> peers;
        for (int i = 0; i < 50; ++i) {
          peers.push_back(knock(world, "10." + std::to_string(round) + ".0." + std::to_string(i)));
          flood(*peers.back(), 30);
        }
        settle();
        EXPECT_EQ(world.server.call_shares().statistics().address_count, 50u);
        peers.clear();
        settle();
        EXPECT_EQ(world.server.call_shares().statistics().address_count, 0u);
        EXPECT_EQ(world.server.call_shares().statistics().count, 0u);
        EXPECT_EQ(bound.statistics().address_count, 0u);
        EXPECT_EQ(bound.statistics().count, 0u);
      }
      EXPECT_TRUE(world.connect("10.0.0.1"));
    }
    EXPECT_EQ(bound.statistics().count, 0u);
  });
}

TEST(AddressShareTest, ConnectionsOfOneAddressLeaveRoomForOthers) {
  PublicWorld world({.connection_count_max = 20});
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 30; ++i) peers.push_back(knock(world, "10.0.0.1"));
  ASSERT_TRUE(coroutine::sleep_for(2s));  // By then the refused connections are gone.
  EXPECT_EQ(world.server.statistics().connection_count, 10u);
  EXPECT_EQ(world.server.statistics().refused_connection_count, 20u);
  EXPECT_EQ(peers.back()->receive_bye().code(), Code::resource_exhausted);
  for (int i = 0; i < 30; ++i) peers.push_back(knock(world, "10.0.0.2"));
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(world.server.statistics().connection_count, 18u);
  const auto player = world.connect("10.0.0.3");
  ASSERT_TRUE(player);
  EXPECT_TRUE(EchoClient(**player).echo(make_echo("let in")));
}

TEST(AddressShareTest, NodesGetInWhileClientsFlood) {
  PublicWorld world({.connection_count_max = 20});
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 60; ++i) peers.push_back(knock(world, "10.0.0." + std::to_string(i)));
  settle();
  EXPECT_THAT(world.connect("10.0.1.1"), fails_with(Code::resource_exhausted));
  std::vector<std::unique_ptr<rpc::Client>> nodes;
  for (int i = 0; i < 20; ++i) {
    auto node = world.connect("10.0.2.1", 2);
    ASSERT_TRUE(node) << node;
    EXPECT_TRUE(EchoClient(**node).echo(make_echo("")));
    nodes.push_back(*std::move(node));
  }
}

TEST(AddressShareTest, ServersOfTwoThreadsCountTogether) {
  net::ConnectionBound bound({.count_max = 100});
  sim::SimulatedNetwork network;
  EchoService service;
  rpc::Server first(network);
  rpc::Server second(network);
  ASSERT_TRUE(first.listen({"server", 1}, {.door = rpc::Door::clients, .connections = &bound}));
  ASSERT_TRUE(second.listen({"server", 2}, {.door = rpc::Door::clients, .connections = &bound}));
  std::vector<std::unique_ptr<net::Stream>> streams;
  for (int i = 0; i < 400; ++i) {
    network.set_client_address("10.0.0." + std::to_string(i / 4));
    auto stream =
        network.connect({"server", static_cast<std::uint16_t>(1 + i % 2)}, Deadline::after(1s));
    ASSERT_TRUE(stream);
    streams.push_back(*std::move(stream));
  }
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_EQ(first.statistics().connection_count + second.statistics().connection_count, 100u);
}

TEST(AddressShareTest, RefusedPeersThatStayCostLittle) {
  PublicWorld world({.connection_count_max = 20});
  std::vector<std::unique_ptr<RawPeer>> peers;
  world.network.set_client_address("10.0.0.1");
  for (int i = 0; i < 300; ++i) peers.push_back(std::make_unique<RawPeer>(world.network));
  EXPECT_LE(world.server.statistics().connection_count, 10u + 64u);
}

TEST(AddressShareTest, LimitsChangeWhileItServes) {
  PublicWorld world({.connection_count_max = 20});
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 10; ++i) peers.push_back(knock(world, "10.0.0.1"));
  settle();
  EXPECT_THAT(world.connect("10.0.0.1"), fails_with(Code::resource_exhausted));
  world.server.set_limits({.connection_count_max = 20, .address_share_percent = 60});
  const auto one_more = world.connect("10.0.0.1");
  EXPECT_TRUE(one_more);
}

TEST(AddressShareTest, CallsOverHttpHaveTheSameShare) {
  run_with_few_stacks([] {
    PublicWorld world;
    rpc::HttpFace face(world.server, {.door = rpc::Door::clients});
    net::HttpServer http(world.network, face, net::HttpServer::Options{});
    ASSERT_TRUE(http.listen({"server", 3}));
    const auto ask = [&world](const std::string& address) {
      world.network.set_client_address(address);
      auto response = net::fetch_http(world.network, {"server", 3},
                                      {.method = "POST",
                                       .target = "/corolane.test.Echo/Echo",
                                       .body = "{}",
                                       .headers = {{"Content-Type", "application/json"}}},
                                      Deadline::after(1s));
      return response ? response->status : 0;
    };
    const auto peer = knock(world, "10.0.0.1");
    flood(*peer, 500);
    settle();
    EXPECT_EQ(ask("10.0.0.1"), 429u);
    EXPECT_EQ(ask("10.0.0.2"), 200u);
    EXPECT_EQ(world.server.call_shares().statistics().count, 500u);
  });
}

}  // namespace
}  // namespace corolane::test
