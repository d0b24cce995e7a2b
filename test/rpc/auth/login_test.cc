// SPDX-License-Identifier: MIT
// Clients that log in with the hello of their connection, or with each request by HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "net/http/http.h"
#include "net/http/http_server.h"
#include "rpc/http/http_face.h"
#include "rpc/principal.h"
#include "test/fixtures/allocated_bytes.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::Door;
using rpc::FrameType;
using rpc::LoginPeer;
using rpc::Principal;

// Answers with the principal of the caller and its roles.
class WhoService : public EchoService {
 public:
  Result<EchoReply> echo(const EchoRequest&, rpc::Context& context) override {
    EchoReply reply;
    std::string text = context.principal().is_anonymous() ? "anonymous" : context.principal().id;
    for (const std::string& role : context.principal().roles) text += " " + role;
    reply.set_text(text);
    return reply;
  }
};

class LoginTest : public testing::Test {
 protected:
  static constexpr std::uint16_t clients_port = 1;
  static constexpr std::uint16_t nodes_port = 2;

  LoginTest() {
    check(server_.add(service_, rpc::Server::Audience::everybody).has_value(), "it can be added");
    const auto listening = server_.listen(
        {"server", clients_port},
        {.door = Door::clients, .login = [this](std::string_view token, const LoginPeer& peer) {
           return log_in(token, peer);
         }});
    check(listening && server_.listen({"server", nodes_port}, {.door = Door::nodes}),
          "the server listens");
  }

  // Takes a name, and anything behind a colon, as a token; that of mallory is refused, and that of
  // a sleeper takes a while.
  Result<Principal> log_in(std::string_view token, const LoginPeer& peer) {
    ++login_count_;
    peers_.emplace_back(peer.address.substr(0, 7));
    if (token.empty()) return Error(Code::unauthenticated, "a token is required here");
    if (token == "mallory") return Error(Code::unauthenticated, "mallory is not welcome");
    if (token.starts_with("sleeper")) {
      if (auto slept = coroutine::sleep_for(sleep_time_); !slept) {
        ++cancelled_count_;
        return slept.error();
      }
    }
    return Principal{.id = std::string(token.substr(0, token.find(':'))), .roles = {"player"}};
  }

  rpc::Client::Options with_token(std::string token) {
    return {.token = [this, token = std::move(token)]() -> Result<std::string> {
      ++token_count_;
      return token;
    }};
  }
  Result<std::unique_ptr<rpc::Client>> connect(const std::string& token) {
    return rpc::Client::connect(network_, {"server", clients_port}, Deadline::after(10s),
                                with_token(token));
  }
  static std::string who(rpc::Client& client) {
    const auto reply = EchoClient(client).echo(make_echo(""));
    return reply ? reply->text() : reply.error().message();
  }

  sim::SimulatedNetwork network_;
  WhoService service_;
  rpc::Server server_{network_};
  int login_count_ = 0;
  int token_count_ = 0;
  int cancelled_count_ = 0;
  Duration sleep_time_ = 1s;
  std::vector<std::string> peers_;
};

TEST_F(LoginTest, HandlersSeeThePrincipalOfTheConnection) {
  auto client = connect("player-17");
  ASSERT_TRUE(client) << client.error().message();
  EXPECT_EQ(who(**client), "player-17 player");
  EXPECT_EQ(who(**client), "player-17 player");
  EXPECT_EQ(login_count_, 1) << "once for each connection";
  EXPECT_EQ(peers_, std::vector<std::string>{"client:"});
}

TEST_F(LoginTest, RefusedClientLearnsWhyAndReachesNoMethod) {
  auto refused = connect("mallory");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unauthenticated);
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("mallory is not welcome"));
  auto without = connect("");
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message(), testing::HasSubstr("a token is required here"));
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(server_.statistics().connection_count, 0u);
}

TEST_F(LoginTest, LoginMaySuspendAndOthersAreServedMeanwhile) {
  auto slow = coroutine::spawn("slow", [this]() -> Result<std::string> {
    auto client = connect("sleeper");
    if (!client) return client.error();
    return who(**client);
  });
  auto quick = connect("player-17");
  ASSERT_TRUE(quick);
  EXPECT_EQ(who(**quick), "player-17 player");
  EXPECT_FALSE(slow.is_done());
  EXPECT_EQ(slow.join(Deadline::never()).value(), "sleeper player");
}

TEST_F(LoginTest, LoginThatTakesTooLongIsCancelled) {
  sleep_time_ = 1h;
  const auto client = connect("sleeper");
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code(), Code::deadline_exceeded);
  ASSERT_TRUE(coroutine::sleep_for(10ms));
  EXPECT_EQ(cancelled_count_, 1);
}

TEST_F(LoginTest, ClientThatLeavesCancelsItsLogin) {
  sleep_time_ = 3s;
  {
    RawPeer peer(network_, clients_port);
    peer.say_hello({.token = "sleeper"});
    ASSERT_TRUE(coroutine::sleep_for(100ms));
    EXPECT_EQ(login_count_, 1);
    peer.stream().close();
  }
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_EQ(cancelled_count_, 1);
  EXPECT_EQ(server_.statistics().connection_count, 0u);
}

TEST_F(LoginTest, FrameBeforeTheAnswerEndsTheConnection) {
  RawPeer peer(network_, clients_port);
  peer.say_hello({.token = "sleeper"});
  peer.call("early");
  const Error bye = peer.receive_bye();
  EXPECT_EQ(bye.code(), Code::unauthenticated);
  EXPECT_EQ(bye.message(), "a frame arrived before the answer to the hello");
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_EQ(cancelled_count_, 1);
  EXPECT_TRUE(service_.echoed.empty());
}

TEST_F(LoginTest, ServerThatStopsCancelsLogins) {
  sleep_time_ = 3s;
  RawPeer peer(network_, clients_port);
  peer.say_hello({.token = "sleeper"});
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  ASSERT_TRUE(server_.stop(Deadline::after(1s)));
  EXPECT_EQ(cancelled_count_, 1);
}

TEST_F(LoginTest, TokenIsAskedForAgainForTheNextConnection) {
  auto client = connect("player-17");
  ASSERT_TRUE(client);
  network_.reset_all();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(who(**client), "player-17 player");
  EXPECT_EQ(token_count_, 2);
  EXPECT_EQ(login_count_, 2);
}

TEST_F(LoginTest, SlowSourceOfTokensTakesNothingFromTheTimeForTheHello) {
  rpc::Client::Options options;
  options.connect_time_max = 1min;
  options.token = []() -> Result<std::string> {
    if (auto slept = coroutine::sleep_for(20s); !slept) return slept.error();
    return "player-17";
  };
  auto client =
      rpc::Client::connect(network_, {"server", clients_port}, Deadline::after(1min), options);
  ASSERT_TRUE(client) << client.error().message();
  EXPECT_EQ(who(**client), "player-17 player");
  EXPECT_EQ(server_.statistics().accepted_count, 1u);
}

TEST_F(LoginTest, ClientWithoutATokenFailsWithTheErrorOfItsSource) {
  const auto client = rpc::Client::connect(network_, {"server", clients_port}, Deadline::after(1s),
                                           {.token = []() -> Result<std::string> {
                                             return Error(Code::permission_denied,
                                                          "the login service knows no such player");
                                           }});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code(), Code::permission_denied);
  EXPECT_THAT(client.error().message(), testing::HasSubstr("knows no such player"));
}

TEST_F(LoginTest, TokenOfTheLargestSizeFitsAndALargerOneIsRefusedByItsClient) {
  auto client = connect(std::string(rpc::token_bytes_max, 'x'));
  ASSERT_TRUE(client) << client.error().message();
  const auto larger = connect(std::string(rpc::token_bytes_max + 1, 'x'));
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().code(), Code::invalid_argument);
  EXPECT_EQ(login_count_, 1);
}

TEST_F(LoginTest, TokenIsForgottenAfterTheLogin) {
  constexpr std::size_t peer_count = 100;
  const auto held_by_peers = [&](const std::string& token) {
    const std::size_t before = allocated_bytes();
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (std::size_t index = 0; index < peer_count; ++index) {
      peers.push_back(std::make_unique<RawPeer>(network_, clients_port));
      peers.back()->say_hello({.token = token});
      std::string().swap(peers.back()->own_hello);
      check(peers.back()->receive()->header.type == FrameType::hello, "the client is logged in");
    }
    return allocated_bytes() - before;
  };
  held_by_peers("x");  // Fills pools.
  const std::size_t with_short_tokens = held_by_peers("x");
  const std::size_t with_long_tokens =
      held_by_peers("x:" + std::string(rpc::token_bytes_max - 2, 'x'));
  // The buffers of the simulated streams stay as large as their largest piece was.
  EXPECT_LT(with_long_tokens, with_short_tokens + peer_count * rpc::token_bytes_max * 3 / 2);
}

TEST_F(LoginTest, PrincipalThatAClientClaimsIsIgnoredAndThatOfANodeIsBelieved) {
  const Principal admin{.id = "admin", .roles = {"all"}};
  auto client = connect("player-17");
  ASSERT_TRUE(client);
  auto reply = EchoClient(**client).echo(make_echo(""), {.principal = &admin});
  EXPECT_EQ(reply->text(), "player-17 player");

  auto node = rpc::Client::connect(network_, {"server", nodes_port}, Deadline::after(1s));
  ASSERT_TRUE(node);
  reply = EchoClient(**node).echo(make_echo(""), {.principal = &admin});
  EXPECT_EQ(reply->text(), "admin all");
  EXPECT_EQ(who(**node), "anonymous");
}

TEST_F(LoginTest, RequestIdsBelongToThePrincipal) {
  std::vector<std::string> scopes;
  server_.add_filter([&](rpc::Context& call, const rpc::Next& next) {
    scopes.emplace_back(call.object()->request_id.scope);
    return next();
  });
  const rpc::ObjectTarget target{.id = "room", .request_id = {.caller = "ada", .sequence = 1}};
  const std::string requester = "a secret of 16 bytes";
  for (const char* const token : {"ada", "ada", "eve"}) {
    rpc::Client::Options options = with_token(token);
    options.requester = requester;
    rpc::Client client(network_, {"server", clients_port}, options);
    ASSERT_TRUE(EchoClient(client).echo(make_echo(""), {.object = &target}));
  }
  EXPECT_EQ(scopes[0], scopes[1]) << "a new connection of the same player";
  EXPECT_NE(scopes[0], scopes[2]) << "another player, even with the same secret";
}

TEST_F(LoginTest, APrincipalHasItsLimitOfConnections) {
  server_.set_limits({.connections_per_principal_max = 2});
  auto first = connect("player-17");
  auto second = connect("player-17:phone");
  ASSERT_TRUE(first && second);
  EXPECT_THAT(connect("player-17:tablet"), fails_with(Code::resource_exhausted));
  EXPECT_TRUE(connect("player-18"));
  first->reset();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_TRUE(connect("player-17:tablet"));
}

TEST_F(LoginTest, APrincipalHasItsLimitOfCallsOverAllConnectionsAndByHttp) {
  server_.set_limits({.calls_per_principal_max = 3});
  auto first = connect("player-17");
  auto second = connect("player-17:phone");
  auto other = connect("player-18");
  ASSERT_TRUE(first && second && other);
  coroutine::TaskGroup sleepers;
  for (rpc::Client* const client : {first->get(), first->get(), second->get()}) {
    ASSERT_TRUE(sleepers.spawn(
        "sleeper", [client] { EXPECT_TRUE(EchoClient(*client).sleep(make_sleep(1s))); }));
  }
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_THAT(EchoClient(**second).echo(make_echo(""), {.deadline = Deadline::after(10ms)}),
              fails_with(Code::resource_exhausted));
  EXPECT_EQ(who(**other), "player-18 player");

  rpc::HttpFace face(server_, {.door = Door::clients,
                               .login = [this](std::string_view token, const LoginPeer& peer) {
                                 return log_in(token, peer);
                               }});
  net::HttpServer http(network_, face, net::HttpServer::Options{});
  ASSERT_TRUE(http.listen({"server", 3}));
  const auto status_of = [&](const std::string& token) {
    return net::fetch_http(network_, {"server", 3},
                           {.method = "POST",
                            .target = "/corolane.test.Echo/Echo",
                            .body = "{}",
                            .headers = {{"Content-Type", "application/json"},
                                        {"Authorization", "Bearer " + token}}},
                           Deadline::after(1s))
        .value_or(net::HttpResponse{.status = 0})
        .status;
  };
  EXPECT_EQ(status_of("player-17"), 429u);
  EXPECT_EQ(status_of("player-18"), 200u);
  EXPECT_TRUE(sleepers.join(Deadline::never()));
  EXPECT_EQ(status_of("player-17"), 200u);
  EXPECT_EQ(who(**first), "player-17 player");
}

TEST_F(LoginTest, ListenerHasASharedKeyOrALogin) {
  const auto listening = server_.listen(
      {"server", 9},
      {.security = {.shared_key = "a key that both ends know"},
       .door = Door::clients,
       .login = [](std::string_view, const LoginPeer&) { return Result<Principal>(Principal()); }});
  ASSERT_FALSE(listening);
  EXPECT_EQ(listening.error().message(),
            "a listener has a shared key, for nodes, or a login, for clients");
}

TEST_F(LoginTest, RequestsByHttpLogInWithABearerToken) {
  rpc::HttpFace face(server_, {.door = Door::clients,
                               .login = [this](std::string_view token, const LoginPeer& peer) {
                                 return log_in(token, peer);
                               }});
  net::HttpServer http(network_, face, net::HttpServer::Options{.sends_date = false});
  const auto endpoint = http.listen({"server", 0});
  ASSERT_TRUE(endpoint);
  const auto post = [&](const std::string& authorization) {
    net::HttpRequest request{.method = "POST",
                             .target = "/corolane.test.Echo/Echo",
                             .body = "{}",
                             .headers = {{"Content-Type", "application/json"}}};
    if (!authorization.empty()) request.headers.add("Authorization", authorization);
    auto response =
        net::fetch_http(network_, {"server", endpoint->port}, request, Deadline::after(1min));
    check(response.has_value(), "the server answers");
    return *std::move(response);
  };

  EXPECT_EQ(post("Bearer player-17").body, R"({"text":"player-17 player"})");
  EXPECT_EQ(post("bearer player-18").body, R"({"text":"player-18 player"})");
  for (const char* const refused : {"", "Bearer mallory", "Basic player-17", "Bearer"}) {
    const auto response = post(refused);
    EXPECT_EQ(response.status, 401u) << refused;
    EXPECT_THAT(response.body, testing::HasSubstr("unauthenticated")) << refused;
  }
  EXPECT_EQ(post("Bearer " + std::string(rpc::token_bytes_max + 1, 'x')).status, 401u);
}

}  // namespace
}  // namespace corolane::test
