// SPDX-License-Identifier: MIT
#include "framework/node/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/telemetry/log.h"
#include "net/testing/network.h"
#include "net/websocket/websocket_network.h"
#include "rpc/reflection/reflection.corolane.h"
#include "rpc/server/server.h"
#include "rpc/wire/frame.h"
#include "test/framework/pages/pages.h"
#include "test/framework/slow_service.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fetch;
using test::SlowClient;
using test::SlowService;
using test::wait_request;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class NodeTest : public testing::Test {
 protected:
  static NodeConfig config() { return test::node_config("test-1"); }

  std::unique_ptr<Node> make(NodeConfig config) {
    auto node = std::make_unique<Node>(
        std::move(config), network_,
        Log(LogLevel::info, [this](std::string_view line) { lines_.emplace_back(line); }));
    add_node_pages(node->admin(), *node);
    return node;
  }

  // A started node that serves the slow service.
  std::unique_ptr<Node> make_serving() {
    auto node = make(config());
    node->serve(SlowService());
    const auto started = node->start();
    EXPECT_TRUE(started) << started;
    return node;
  }

  std::unique_ptr<rpc::Client> connect(const Node& node) { return test::connect(network_, node); }

  sim::SimulatedNetwork network_;
  std::vector<std::string> lines_;
};

TEST_F(NodeTest, ServesTheCallsOfItsServices) {
  auto node = make_serving();
  auto client = connect(*node);
  EXPECT_TRUE(SlowClient(*client).wait(wait_request(1ms)));
  EXPECT_EQ(node->rpc_server().statistics().accepted_count, 1U);
}

TEST_F(NodeTest, LogsWhereItServes) {
  auto node = make_serving();
  EXPECT_THAT(lines_, Contains(AllOf(HasSubstr("info    node serves name=test-1 version="),
                                     HasSubstr("listen=" + to_string(node->endpoints().clients)),
                                     HasSubstr("admin=" + to_string(node->endpoints().admin)))));
}

TEST_F(NodeTest, ARunningCallFinishesWhileTheNodeStops) {
  auto node = make_serving();
  auto client = connect(*node);
  auto call =
      coroutine::spawn("call", [&] { return SlowClient(*client).wait(wait_request(300ms)); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  const auto stop_start = now();
  EXPECT_TRUE(node->stop(Deadline::after(5s)));
  EXPECT_GE(now() - stop_start, 200ms);
  EXPECT_LT(now() - stop_start, 1s);
  EXPECT_TRUE(call.join(Deadline::never()));
  EXPECT_THAT(lines_, Contains(HasSubstr("node stops name=test-1 running_calls=1")));
}

TEST_F(NodeTest, ACallThatOutlastsTheDeadlineIsCancelled) {
  auto node = make_serving();
  auto client = connect(*node);
  auto call = coroutine::spawn("call", [&] {
    return SlowClient(*client).wait(wait_request(1h), {.deadline = Deadline::never()});
  });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  const auto stop_start = now();
  const auto stopped = node->stop(Deadline::after(5s));
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), Code::deadline_exceeded);
  EXPECT_GE(now() - stop_start, 5s);
  EXPECT_LT(now() - stop_start, 6s);
  EXPECT_FALSE(call.join(Deadline::never()));
  EXPECT_THAT(lines_, Contains(HasSubstr("warning running calls did not finish in time")));
}

TEST_F(NodeTest, NewCallsAreRefusedWhileItStopsAndHealthTellsWhy) {
  auto node = make_serving();
  auto client = connect(*node);
  EXPECT_EQ(fetch(network_, node->endpoints().admin, "/health").body, "ok\n");
  auto running =
      coroutine::spawn("running", [&] { return SlowClient(*client).wait(wait_request(1s)); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  auto stop = coroutine::spawn("stop", [&] { return node->stop(Deadline::after(5s)); });
  ASSERT_TRUE(coroutine::sleep_for(100ms));

  const auto late =
      SlowClient(*client).wait(wait_request(1ms), {.deadline = Deadline::after(50ms)});
  EXPECT_FALSE(late);
  const auto health = fetch(network_, node->endpoints().admin, "/health");
  EXPECT_EQ(health.status, 503U);
  EXPECT_EQ(health.body, "stopping\n");

  EXPECT_TRUE(running.join(Deadline::never()));
  EXPECT_TRUE(stop.join(Deadline::never()));
  EXPECT_EQ(fetch(network_, node->endpoints().admin, "/health").status, 0U);
}

TEST_F(NodeTest, AnAddressInUseNamesTheKeyToChange) {
  auto first = make_serving();

  NodeConfig same_listen = config();
  same_listen.clients.listen = to_string(first->endpoints().clients);
  const auto second = make(same_listen)->start();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(),
            "cannot listen on " + same_listen.clients.listen +
                ": address in use; another node? change node.clients.listen");

  NodeConfig same_admin = config();
  same_admin.admin.listen = to_string(first->endpoints().admin);
  const auto third = make(same_admin)->start();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().message(),
            "cannot listen on " + same_admin.admin.listen +
                ": address in use; another node? change node.admin.listen");
}

TEST_F(NodeTest, ServesTheSameServicesByHttpWhenConfigured) {
  EXPECT_FALSE(make_serving()->endpoints().http);

  NodeConfig with_http = config();
  with_http.clients.http = "127.0.0.1:0";
  auto node = make(with_http);
  node->serve(SlowService());
  ASSERT_TRUE(node->start());
  ASSERT_TRUE(node->endpoints().http);
  const net::Endpoint http = *node->endpoints().http;
  EXPECT_THAT(lines_, Contains(HasSubstr("http=" + to_string(http))));
  EXPECT_THAT(fetch(network_, http, "/").body, HasSubstr("POST /corolane.test.Slow/Wait"));

  // A running call finishes while the node stops.
  auto call = coroutine::spawn("call", [&] {
    return net::fetch_http(network_, {http.address, http.port},
                           {.method = "POST",
                            .target = "/corolane.test.Slow/Wait",
                            .body = R"({"milliseconds":1000})",
                            .headers = {{"Content-Type", "application/json"}}},
                           Deadline::after(10s));
  });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  const TimePoint stop_start = now();
  EXPECT_TRUE(node->stop(Deadline::after(5s)));
  EXPECT_GE(now() - stop_start, 850ms);
  const auto response = call.join(Deadline::never());
  ASSERT_TRUE(response) << response;
  EXPECT_EQ(response->status, 200U) << response->body;
}

TEST_F(NodeTest, FramesAndHttpShareAPortWhenConfigured) {
  for (const bool says_on : {true, false}) {
    NodeConfig with_http = config();
    with_http.clients.listen = "127.0.0.1:1234";
    with_http.clients.http = says_on ? "on" : with_http.clients.listen;
    auto node = make(with_http);
    node->serve(SlowService());
    ASSERT_TRUE(node->start());
    EXPECT_EQ(node->endpoints().http, node->endpoints().clients);
    auto client = connect(*node);
    EXPECT_TRUE(SlowClient(*client).wait(wait_request(1ms)));
    EXPECT_THAT(fetch(network_, node->endpoints().clients, "/").body,
                HasSubstr("POST /corolane.test.Slow/Wait"));
    EXPECT_TRUE(node->stop(Deadline::after(5s)));
    EXPECT_EQ(fetch(network_, node->endpoints().clients, "/").status, 0U);
  }
}

TEST_F(NodeTest, WebSocketsShareThePortOfFramesUnlessSwitchedOff) {
  NodeConfig with_http = config();
  with_http.clients.http = "on";
  with_http.clients.websocket_deflate = true;
  auto node = make(with_http);
  node->serve(SlowService());
  ASSERT_TRUE(node->start());
  net::WebSocketNetwork web(network_, {.deflates = true, .deflate_bytes_min = 1});
  const net::Endpoint& door = node->endpoints().clients;
  rpc::Client browser(web, {door.address, door.port}, {});
  EXPECT_TRUE(SlowClient(browser).wait(wait_request(1ms)));
  EXPECT_THAT(fetch(network_, door, "/").body, HasSubstr("POST /corolane.test.Slow/Wait"));
  browser.close();
  EXPECT_TRUE(node->stop(Deadline::after(5s)));

  NodeConfig without = config();
  without.clients.websocket = false;
  auto other = make(without);
  other->serve(SlowService());
  ASSERT_TRUE(other->start());
  const net::Endpoint& closed = other->endpoints().clients;
  const auto refused = web.connect(closed, Deadline::after(5s));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("status 400"));
}

TEST_F(NodeTest, AnHttpAddressInUseIsNamed) {
  auto first = make_serving();
  NodeConfig same = config();
  same.clients.http = to_string(first->endpoints().clients);
  auto second = make(same);
  const auto started = second->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message(),
            "cannot listen on " + same.clients.http +
                ": address in use; another node? change node.clients.http");
}

TEST_F(NodeTest, AnInvalidConfigurationDoesNotStart) {
  NodeConfig wrong = config();
  wrong.admin.listen = "0.0.0.0:0";
  const auto started = make(wrong)->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::invalid_argument);
  EXPECT_THAT(started.error().message(), HasSubstr("node.admin.listen: 0.0.0.0:0 is no loopback"));
}

TEST_F(NodeTest, AnEdgeWithoutOtherNodesDoesNotStart) {
  NodeConfig alone = config();
  alone.cluster.roles = {std::string(edge_role)};
  const auto started = make(alone)->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::invalid_argument);
  EXPECT_THAT(started.error().message(), HasSubstr("node.cluster.roles: with the role edge"));
}

TEST_F(NodeTest, TheSameServiceTwiceDoesNotStart) {
  auto node = make(config());
  node->serve(SlowService());
  node->serve(SlowService());
  const auto started = node->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::already_exists);
}

// A service without a public method.
class SecretService : public rpc::Service {
 public:
  const char* service_name() const override { return "test.Secret"; }
  std::span<const rpc::Method> methods() const override { return {&method_, 1}; }

 private:
  rpc::Method method_ = [] {
    rpc::Method method = SlowService().methods()[0];
    method.full_name = "test.Secret/Tell";
    method.id = rpc::method_id(method.full_name);
    method.is_public = false;
    method.invoke = [](rpc::Service&, const google::protobuf::Message&, rpc::Context&,
                       rpc::Messages& sink) {
      test::WaitReply reply;
      return sink.reply(reply);
    };
    return method;
  }();
};

TEST_F(NodeTest, ANodeWhoseClientsCouldCallNothingDoesNotStart) {
  auto node = make(config());
  node->serve(SecretService());
  const auto started = node->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::failed_precondition);
  EXPECT_THAT(started.error().message(),
              AllOf(HasSubstr("test.Secret"), HasSubstr("(corolane.method).public = true"),
                    HasSubstr("node.clients.public_methods_only: false")));
}

TEST_F(NodeTest, AStackForAMethodThatIsNotServedIsTold) {
  NodeConfig with_stacks = config();
  for (const char* method : {"corolane.test.Slow/Wait", "corolane.test.Slow/Wiat"}) {
    with_stacks.stacks.methods.push_back({.method = method, .size = {.count = 128 * 1024}});
  }
  auto node = make(with_stacks);
  node->serve(SlowService());
  ASSERT_TRUE(node->start());
  const auto told = [&](const std::string& method) {
    return std::ranges::count_if(lines_, [&](const std::string& line) {
      return line.contains("a stack is configured") && line.contains(method);
    });
  };
  EXPECT_EQ(told("Slow/Wiat"), 1);
  EXPECT_EQ(told("Slow/Wait"), 0);
}

TEST_F(NodeTest, ANodeThatServesNothingStarts) { EXPECT_TRUE(make(config())->start()); }

TEST_F(NodeTest, ClientsReachOnlyPublicMethodsUnlessTheConfigurationSaysOtherwise) {
  for (const bool public_only : {true, false}) {
    NodeConfig with_http = config();
    with_http.clients.http = "127.0.0.1:0";
    with_http.clients.public_methods_only = public_only;
    auto node = make(with_http);
    node->serve(SlowService());
    node->serve(SecretService());
    ASSERT_TRUE(node->start());
    auto client = connect(*node);
    const rpc::Method secret = SecretService().methods()[0];
    test::WaitReply reply;
    EXPECT_EQ(client->call(secret, wait_request(1ms), reply).has_value(), !public_only);
    EXPECT_TRUE(SlowClient(*client).wait(wait_request(1ms)));
    const std::string list = fetch(network_, *node->endpoints().http, "/").body;
    EXPECT_EQ(list.contains("test.Secret"), !public_only);
    EXPECT_THAT(list, HasSubstr("corolane.test.Slow"));
    EXPECT_EQ(fetch(network_, *node->endpoints().http, "/test.Secret/Tell", "POST").status == 404,
              public_only);
  }
}

// Answers with the principal of its caller, as the error.
class WhoService : public rpc::Service {
 public:
  const char* service_name() const override { return "test.Who"; }
  std::span<const rpc::Method> methods() const override { return methods_; }

 private:
  static rpc::Method make_method() {
    rpc::Method method = SlowService().methods()[0];
    method.full_name = "test.Who/Ask";
    method.id = rpc::method_id("test.Who/Ask");
    method.is_public = true;
    method.invoke = [](rpc::Service&, const google::protobuf::Message&, rpc::Context& context,
                       rpc::Messages&) -> Result<void> {
      return Error(Code::aborted, "you are " + context.principal().id);
    };
    return method;
  }

  const std::array<rpc::Method, 1> methods_ = {make_method()};
};

TEST_F(NodeTest, ClientsLogInByRpcAndByHttp) {
  NodeConfig with_http = config();
  with_http.clients.http = "127.0.0.1:0";
  auto node = make(with_http);
  node->serve(WhoService());
  node->set_login([](std::string_view token, const rpc::LoginPeer&) -> Result<rpc::Principal> {
    if (token != "secret") return Error(Code::unauthenticated, "wrong token");
    return rpc::Principal{.id = "player-17"};
  });
  ASSERT_TRUE(node->start());
  const net::Endpoint& endpoint = node->endpoints().clients;
  const auto connect_with = [&](const std::string& token) {
    return rpc::Client::connect(network_, {endpoint.address, endpoint.port}, Deadline::after(1s),
                                {.token = [token]() -> Result<std::string> { return token; }});
  };

  EXPECT_FALSE(connect_with("guess"));
  auto client = connect_with("secret");
  ASSERT_TRUE(client) << client;
  test::WaitReply reply;
  EXPECT_EQ((*client)->call(WhoService().methods()[0], wait_request(1ms), reply).error().message(),
            "you are player-17");
  const auto ask = [&](const char* token) {
    return net::fetch_http(network_, {endpoint.address, node->endpoints().http->port},
                           {.method = "POST",
                            .target = "/test.Who/Ask",
                            .body = "{}",
                            .headers = {{"Content-Type", "application/json"},
                                        {"Authorization", std::string("Bearer ") + token}}},
                           Deadline::after(1s))
        .value()
        .body;
  };
  EXPECT_THAT(ask("secret"), HasSubstr("you are player-17"));
  EXPECT_THAT(ask("guess"), HasSubstr("wrong token"));
}

TEST_F(NodeTest, WithoutReflectionClientsLearnNoMethods) {
  NodeConfig closed = config();
  closed.clients.http = "127.0.0.1:0";
  closed.clients.reflection = false;
  auto node = make(closed);
  node->serve(SlowService());
  ASSERT_TRUE(node->start());
  auto client = connect(*node);
  rpc::ReflectionClient reflection(*client);
  EXPECT_THAT(reflection.list_services({}), test::fails_with(Code::unimplemented));
  EXPECT_TRUE(SlowClient(*client).wait(wait_request(1ms)));
  const auto list = fetch(network_, *node->endpoints().http, "/");
  EXPECT_EQ(list.status, 404);
  EXPECT_THAT(list.body, testing::Not(HasSubstr("Slow")));
}

TEST_F(NodeTest, ANodeThatNoClientCouldEnterDoesNotStart) {
  NodeConfig closed = config();
  closed.clients.login.anonymous = false;
  const auto started = make(closed)->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Code::failed_precondition);
  EXPECT_THAT(started.error().message(), HasSubstr("node.clients.login: no client could log in"));
}

TEST_F(NodeTest, TwoNodesLiveSideBySide) {
  auto one = make_serving();
  auto two = make_serving();
  auto client_one = connect(*one);
  auto client_two = connect(*two);
  EXPECT_TRUE(one->stop(Deadline::after(5s)));
  EXPECT_FALSE(SlowClient(*client_one).wait(wait_request(1ms)));
  EXPECT_TRUE(SlowClient(*client_two).wait(wait_request(1ms)));
}

TEST_F(NodeTest, DestructionCancelsRunningCalls) {
  auto node = make_serving();
  auto client = connect(*node);
  auto call = coroutine::spawn("call", [&] {
    return SlowClient(*client).wait(wait_request(1h), {.deadline = Deadline::never()});
  });
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  node.reset();
  EXPECT_FALSE(call.join(Deadline::never()));
}

}  // namespace
}  // namespace corolane::framework
