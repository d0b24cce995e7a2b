// SPDX-License-Identifier: MIT
// The pages of sessions and users, and how an operator sends a user away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/task.h"
#include "framework/edge/user.h"
#include "framework/node/node.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "test/framework/counter.h"
#include "test/framework/pages/pages.h"
#include "test/framework/room.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

class Ends final : public rpc::PushSink {
 public:
  void on_push(const rpc::Push&) override {}
  void on_gap(std::uint64_t) override {}
  void on_session(bool) override {}
  void on_end(const Error& reason) override { all.push_back(reason.to_string()); }

  std::vector<std::string> all;
};

// The counter "outer" has "c" count, and so has the service.
class OuterCounter final : public test::Counter {
 public:
  Result<test::CounterReply> add(const test::AddRequest& request, rpc::Context& context) override {
    if (id() != "outer") return Counter::add(request, context);
    return test::CounterClient(router(), "c").add(request);
  }
};

class CountingService final : public test::SlowBase {
 public:
  explicit CountingService(Router& router) : router_(router) {}
  Result<test::WaitReply> wait(const test::WaitRequest& request, rpc::Context&) override {
    const std::chrono::milliseconds pause(request.milliseconds());
    auto added = test::CounterClient(router_, "c").add(test::add_request(1, pause));
    if (!added) return added.error();
    return test::WaitReply();
  }

 private:
  Router& router_;
};

class SessionsPageTest : public testing::Test {
 protected:
  SessionsPageTest() : node_(test::node_config("hub"), network_) {
    node_.set_login([](std::string_view token, const rpc::LoginPeer&) -> Result<rpc::Principal> {
      return rpc::Principal{.id = std::string(token)};
    });
    node_.host_users({.devices_max = 2});
    node_.host<OuterCounter>();
    node_.host<test::Room>();
    node_.serve([](Shard& shard) { return std::make_unique<test::WatchService>(shard.router()); });
    node_.serve([](Shard& shard) { return std::make_unique<CountingService>(shard.router()); });
    EXPECT_TRUE(node_.start());
  }

  std::unique_ptr<rpc::Client> connect(const std::string& user) {
    const net::Endpoint& endpoint = node_.endpoints().clients;
    auto client = std::make_unique<rpc::Client>(
        network_, net::HostPort{endpoint.address, endpoint.port},
        rpc::Client::Options{.token = [user] { return Result<std::string>(user); },
                             .pushes = &ends_});
    EXPECT_TRUE(client->wait_until_connected(Deadline::after(1s)));
    return client;
  }
  net::HttpResponse fetch(const std::string& target, const std::string& method = "GET") {
    return test::fetch(network_, node_.endpoints().admin, target, method);
  }
  Json json(const std::string& target) {
    return test::json_page(network_, node_.endpoints().admin, target);
  }

  sim::SimulatedNetwork network_;
  Ends ends_;
  test::PagedNode node_;
};

TEST_F(SessionsPageTest, SessionsAreShownWithTheirUsersAndRings) {
  auto ann = connect("ann");
  const auto bob = connect("bob");
  ASSERT_TRUE(test::CounterClient(node_.router(), "c").add(test::add_request(1)));
  ann.reset();
  ASSERT_TRUE(coroutine::sleep_for(2s));
  ASSERT_TRUE(User(node_.router(), "ann").push(test::CounterReply()));
  const Json page = json("/sessions?format=json");
  ASSERT_EQ(page["count"], 2);
  const Json& away = page["sessions"][0];  // It has something to acknowledge.
  EXPECT_EQ(away["user"], "ann");
  EXPECT_TRUE(away["peer"].is_null());
  EXPECT_EQ(away["ring_count"], 1);
  EXPECT_GT(away["ring_bytes"], 0);
  EXPECT_EQ(away["pushed"], 1);
  EXPECT_EQ(away["lost"], 0);
  EXPECT_EQ(away["groups"], 0);
  EXPECT_NEAR(away["age_seconds"].get<double>(), 2.0, 0.1);
  const Json& here = page["sessions"][1];
  EXPECT_EQ(here["user"], "bob");
  EXPECT_THAT(here["peer"].get<std::string>(), StartsWith("client:"));
  EXPECT_THAT(fetch("/sessions?user=ann").body, HasSubstr(" ann   away "));
  EXPECT_EQ(json("/sessions?user=carl&format=json")["count"], 0);
  EXPECT_EQ(fetch("/sessions?user=100%").status, 400U);
  EXPECT_EQ(fetch("/sessions?format=xml").status, 400U);
}

TEST_F(SessionsPageTest, AUserIsShownWithTheSessionsOnAllNodes) {
  EXPECT_THAT(fetch("/users/ann").body, HasSubstr("ann was never here"));
  const auto client = connect("ann");
  EXPECT_TRUE(User(node_.router(), "ann").push(test::CounterReply()));
  const Json page = json("/users/ann?format=json");
  EXPECT_EQ(page["is_connected"], true);
  EXPECT_EQ(page["count"], 1);
  EXPECT_EQ(page["sessions"][0]["pushed"], 1);
  EXPECT_EQ(page["sessions"][0]["session"],
            json("/sessions?format=json")["sessions"][0]["session"]);
  EXPECT_THAT(fetch("/users/ann").body, StartsWith("ann is connected, last seen "));
  EXPECT_EQ(json("/users/guest%2F7?format=json")["user"], "guest/7");
}

TEST_F(SessionsPageTest, AUserIsShownWithWhatItFollowsAndTheCallsThatItWaitsFor) {
  const auto client = connect("ann");
  test::WatchRequest request;
  request.set_room("lobby");
  ASSERT_TRUE(test::WatchClient(*client).follow(request));
  auto call = coroutine::spawn("call", [&] {
    const rpc::ObjectTarget target{.id = "c"};
    test::CounterReply reply;
    return client->call(test::Counter().methods()[0], test::add_request(1, 5s), reply,
                        {.object = &target});
  });
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const Json session = json("/users/ann?format=json")["sessions"][0];
  EXPECT_THAT(session["peer"].get<std::string>(), StartsWith("client:"));
  EXPECT_EQ(session["follows"], Json({"corolane.test.Room(\"lobby\")"}));
  ASSERT_EQ(session["calls"].size(), 1u);
  const Json& running = session["calls"][0];
  EXPECT_EQ(running["method"], "corolane.test.Counter/Add");
  EXPECT_EQ(running["object"], "c");
  EXPECT_NEAR(running["seconds"].get<double>(), 2.0, 0.1);
  EXPECT_EQ(running["waits_for"], "sleep");
  const std::string text = fetch("/users/ann").body;
  EXPECT_THAT(text, HasSubstr("  corolane.test.Room(\"lobby\")\n"));
  EXPECT_THAT(text, HasSubstr("corolane.test.Counter/Add  c "));
  EXPECT_TRUE(call.join(Deadline::never()));
  EXPECT_TRUE(json("/users/ann?format=json")["sessions"][0]["calls"].empty());
}

TEST_F(SessionsPageTest, ACallShowsTheObjectForWhichItWaits) {
  const auto client = connect("ann");
  auto of_service = coroutine::spawn(
      "call", [&] { return test::SlowClient(*client).wait(test::wait_request(3s)).has_value(); });
  auto of_object = coroutine::spawn("call", [&] {
    const rpc::ObjectTarget target{.id = "outer"};
    test::CounterReply reply;
    return client
        ->call(test::Counter().methods()[0], test::add_request(1, 3s), reply, {.object = &target})
        .has_value();
  });
  ASSERT_TRUE(coroutine::sleep_for(2s));
  const Json calls = json("/users/ann?format=json")["sessions"][0]["calls"];
  ASSERT_EQ(calls.size(), 2u);
  for (const Json& call : calls) {
    EXPECT_EQ(call["waits_for"], "corolane.test.Counter/Add(\"c\")") << call["method"];
  }
  EXPECT_THAT(fetch("/users/ann").body, HasSubstr("corolane.test.Counter/Add(\"c\")"));
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(*of_service.join(Deadline::never()));
  EXPECT_TRUE(*of_object.join(Deadline::never()));
}

TEST_F(SessionsPageTest, AnOperatorSendsAUserAway) {
  const auto one = connect("ann");
  const auto two = connect("ann");
  EXPECT_EQ(fetch("/kick?user=ann").status, 405U);
  EXPECT_EQ(fetch("/kick", "POST").status, 400U);
  EXPECT_EQ(fetch("/kick?user=ann&reason=no+cheating", "POST").body, "ann was sent away\n");
  ASSERT_TRUE(coroutine::sleep_for(1s));
  ASSERT_EQ(ends_.all.size(), 2u);
  for (const std::string& end : ends_.all) {
    EXPECT_THAT(end, StartsWith("permission_denied"));
    EXPECT_THAT(end, HasSubstr("no cheating"));
  }
  EXPECT_EQ(json("/users/ann?format=json")["count"], 0);
}

}  // namespace
}  // namespace corolane::framework::detail
