// SPDX-License-Identifier: MIT
// The port of clients, on the real loop and several threads: frames and HTTP, with and without TLS.
#include "framework/node/detail/client_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/node/shard.h"
#include "net/http/http_server.h"
#include "net/testing/certificates.h"
#include "net/testing/network.h"
#include "rpc/server/server.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::SlowClient;
using test::SlowService;
using test::soon;
using test::wait_request;
using testing::Contains;
using testing::HasSubstr;

constexpr std::size_t door_count = 2;

class ClientDoorTest : public testing::TestWithParam<bool> {
 protected:
  static bool has_tls() { return GetParam(); }

  NodeConfig config() const {
    NodeConfig config = test::node_config("door");
    config.shards = door_count;
    config.clients.http = "on";
    config.clients.address_share = 100;
    if (has_tls()) {
      config.clients.tls.certificate_file = files_.certificate_file;
      config.clients.tls.key_file = files_.key_file;
    }
    return config;
  }
  // Runs `body` with a node, and the network by which its clients reach it.
  template <typename F>
  void run(F body) {
    test::run_on_real_loop([&](test::RealLoop& real) {
      auto context = net::TlsContext::load({.ca_file = authority_.file()});
      ASSERT_TRUE(context) << context.error();
      net::TlsNetwork secure(real.network, **context);
      Node node(config(), real.network, Log(LogLevel::error));
      node.serve([](Shard&) { return std::make_unique<SlowService>(); });
      const auto started = node.start();
      ASSERT_TRUE(started) << started;
      ASSERT_TRUE(node.endpoints().http);
      EXPECT_EQ(*node.endpoints().http, node.endpoints().clients);
      net::Network& plain = real.network;
      if (has_tls()) {
        body(node, static_cast<net::Network&>(secure), plain);
      } else {
        body(node, plain, static_cast<net::Network&>(secure));
      }
      EXPECT_TRUE(node.stop(soon()));
    });
  }
  static Result<std::unique_ptr<rpc::Client>> connect(Node& node, net::Network& network) {
    const net::Endpoint& at = node.endpoints().clients;
    return rpc::Client::connect(network, {at.address, at.port}, soon());
  }
  static Result<net::HttpResponse> fetch(Node& node, net::Network& network) {
    const net::Endpoint& at = node.endpoints().clients;
    return net::fetch_http(network, {at.address, at.port}, {.target = "/"}, soon());
  }

  test::CertificateAuthority authority_{"door"};
  test::CertificateFiles files_ = authority_.issue({.addresses = {"127.0.0.1"}});
};

INSTANTIATE_TEST_SUITE_P(Tls, ClientDoorTest, testing::Bool());

TEST_P(ClientDoorTest, EveryShardServesFramesAndHttpOnOnePort) {
  run([](Node& node, net::Network& network, net::Network&) {
    // The kernel gives each connection to a shard by its hash: some dozens leave none out.
    for (int i = 0; i < 40; ++i) {
      const auto client = connect(node, network);
      ASSERT_TRUE(client) << client.error();
      EXPECT_TRUE(SlowClient(**client).wait(wait_request(1ms)));
      const auto page = fetch(node, network);
      ASSERT_TRUE(page) << page.error();
      EXPECT_THAT(page->body, HasSubstr("POST /corolane.test.Slow/Wait"));
    }
    EXPECT_TRUE(node.on_each_shard([](Shard& shard) -> Result<void> {
      EXPECT_GE(shard.rpc_server().statistics().accepted_count, 1U);
      EXPECT_GE(shard.http_server()->statistics().request_count, 1U);
      return {};
    }));
  });
}

TEST_P(ClientDoorTest, PeerThatSpeaksTheOtherWayIsToldSo) {
  run([](Node& node, net::Network&, net::Network& wrong) {
    const auto client = connect(node, wrong);
    const auto page = fetch(node, wrong);
    if (has_tls()) {
      EXPECT_THAT(client, fails_with(Code::failed_precondition));
      EXPECT_THAT(client.error().message(), HasSubstr("this port speaks TLS"));
      ASSERT_TRUE(page) << page.error();
      EXPECT_EQ(page->status, 400U);
      EXPECT_EQ(page->body, "this port speaks TLS: use https://\n");
    } else {
      EXPECT_THAT(client.error().message(), HasSubstr("handshake failure"));
      EXPECT_THAT(page.error().message(), HasSubstr("handshake failure"));
    }
  });
}

TEST(ClientDoorLogTest, RefusalsAreLoggedAtMostOnceAMinute) {
  sim::SimulatedNetwork network;
  std::vector<std::string> lines;
  Node node(test::node_config("door"), network,
            Log(LogLevel::info, [&](std::string_view line) { lines.emplace_back(line); }));
  ASSERT_TRUE(node.start());
  const auto count = [&] {
    return std::ranges::count_if(
        lines, [](const std::string& line) { return line.contains("clients were refused"); });
  };
  const auto knock = [&] {
    const net::Endpoint& at = node.endpoints().clients;
    const auto answer =
        net::fetch_http(network, {at.address, at.port}, {.target = "/"}, Deadline::after(1s));
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_THAT(answer->body, HasSubstr("this port serves no HTTP"));
  };
  for (int i = 0; i < 5; ++i) knock();
  EXPECT_EQ(count(), 1);
  EXPECT_THAT(lines, Contains(HasSubstr("last=http from=client:")));
  ASSERT_TRUE(coroutine::sleep_for(1min));
  knock();
  EXPECT_EQ(count(), 2);
  EXPECT_THAT(lines.back(), HasSubstr("count=5"));
}

}  // namespace
}  // namespace corolane::framework
