// SPDX-License-Identifier: MIT
#include "rpc/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "net/websocket/websocket_network.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::rpc {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// Records what a client is pushed.
class PushLog final : public PushSink {
 public:
  void on_push(const Push& push) override {
    const auto text = push.as<test::EchoRequest>();
    lines.push_back(std::to_string(push.number) + " " + (text ? text->text() : "of another type"));
  }
  void on_gap(std::uint64_t lost_count) override {
    lines.push_back("lost " + std::to_string(lost_count));
  }
  void on_session(bool is_resumed) override {
    lines.emplace_back(is_resumed ? "resumed" : "begun");
  }
  void on_repeated(std::uint64_t number) override {
    lines.push_back(std::to_string(number) + " again");
  }
  void on_end(const Error& reason) override { lines.push_back("ended " + reason.to_string()); }

  std::vector<std::string> lines;
};

// Keeps the session of each caller, as a lobby does.
class Lobby {
 public:
  ServerFilter filter() {
    return [this](Context& context, const Next& next) {
      if (auto session = context.session(); session != nullptr) last = std::move(session);
      return next();
    };
  }
  std::shared_ptr<Session> last;
};

class SessionTest : public testing::Test {
 protected:
  SessionTest() { start({}); }
  ~SessionTest() override {
    client_.reset();
    lobby_.last.reset();
  }

  void start(const SessionOptions& options) {
    client_.reset();
    server_.reset();
    start_server(options);
  }
  void start_server(const SessionOptions& options) {
    server_ = std::make_unique<Server>(network_, Server::Options{.sessions = options});
    ASSERT_TRUE(server_->add(service_, Server::Audience::everybody));
    server_->add_filter(lobby_.filter());
    const auto login = [](std::string_view token, const LoginPeer&) -> Result<Principal> {
      // "alice", or "alice moderator".
      const std::size_t space = token.find(' ');
      Principal principal{.id = std::string(token.substr(0, space))};
      if (space != token.npos) principal.roles.emplace_back(token.substr(space + 1));
      return principal;
    };
    ASSERT_TRUE(server_->listen(endpoint_, {.door = Door::clients, .login = login}));
  }

  // The next one knows nothing of its sessions.
  void restart_server() {
    lobby_.last.reset();
    server_.reset();
    start_server({});
    ASSERT_TRUE(coroutine::sleep_for(1s));
    EXPECT_TRUE(test::EchoClient(*client_).echo(test::make_echo("hello")));
  }

  // A client that has made a call, so that the lobby knows its session. Suspends.
  std::unique_ptr<Client> connect(PushSink& log, const std::string& principal = "alice") {
    auto client = std::make_unique<Client>(
        network_, net::HostPort{endpoint_.address, endpoint_.port},
        Client::Options{.token = [principal] { return Result<std::string>(principal); },
                        .pushes = &log});
    EXPECT_TRUE(test::EchoClient(*client).echo(test::make_echo("hello")));
    return client;
  }
  void connect() { client_ = connect(log_); }
  // Breaks the connections of all clients, without a word.
  void cut() { network_.reset_all(); }
  static void settle() { EXPECT_TRUE(coroutine::sleep_for(50ms)); }
  Session& session() { return *lobby_.last; }
  void push(const std::string& text) { EXPECT_TRUE(session().push(test::make_echo(text))); }
  void push_kept(std::uint64_t mailbox, std::uint64_t number, const std::string& text) {
    const test::EchoRequest message = test::make_echo(text);
    EXPECT_TRUE(session().push_kept(mailbox, number, method_id(message.GetTypeName()),
                                    message.SerializeAsString()));
  }

  const net::Endpoint endpoint_{.address = "server", .port = 1};
  sim::SimulatedNetwork network_{{.latency = 1ms}};
  test::EchoService service_;
  Lobby lobby_;
  PushLog log_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(SessionTest, PushesArriveInOrderAndAreAcknowledged) {
  connect();
  EXPECT_EQ(session().principal().id, "alice");
  push("one");
  push("two");
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("begun", "1 one", "2 two"));
  EXPECT_EQ(session().statistics().acknowledged_number, 2u);
  EXPECT_EQ(session().statistics().ring_bytes, 0u);
}

TEST_F(SessionTest, WhatIsPushedWhileTheSocketIsGoneComesWhenItIsBack) {
  connect();
  push("before");
  settle();
  cut();
  push("meanwhile");
  settle();
  push("after");
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("begun", "1 before", "resumed", "2 meanwhile", "3 after"));
  EXPECT_EQ(session().statistics().resumed_count, 1u);
}

TEST_F(SessionTest, AFullRingDropsTheOldestAndTellsTheGap) {
  start({.ring_count_max = 3});
  connect();
  cut();
  for (int i = 1; i <= 5; ++i) push(std::to_string(i));
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("begun", "resumed", "lost 2", "3 3", "4 4", "5 5"));
  EXPECT_EQ(session().statistics().lost_count, 2u);
}

TEST_F(SessionTest, ThePatienceEndsAForsakenSession) {
  connect();
  const auto kept = lobby_.last;
  std::string end;
  kept->on_end([&](const Error& reason) { end = reason.to_string(); });
  client_.reset();
  ASSERT_TRUE(coroutine::sleep_for(59s));
  EXPECT_FALSE(kept->has_ended());
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_THAT(end, StartsWith("deadline_exceeded"));
  EXPECT_THAT(kept->push(test::make_echo("late")), test::fails_with(Code::unavailable));
}

TEST_F(SessionTest, AClientWhoseSessionIsGoneBeginsANewOne) {
  start({.patience = 1s});
  connect();
  push("one");
  settle();
  network_.set_host("server", {.refuses = true});
  cut();
  ASSERT_TRUE(coroutine::sleep_for(60s));
  network_.set_host("server", {});
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(test::EchoClient(*client_).echo(test::make_echo("hello")));
  push("two");
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("begun", "1 one", "begun", "1 two"));
}

TEST_F(SessionTest, WhatIsKeptComesOnceOverAllSessionsOfAClient) {
  connect();
  push_kept(7, 1, "one");
  push_kept(7, 4, "four");
  settle();
  restart_server();
  push_kept(7, 4, "four");
  push_kept(7, 5, "five");
  push("not kept");
  push_kept(0, 6, "without a name");
  settle();
  restart_server();
  push_kept(9, 3, "of another mailbox");
  settle();
  EXPECT_THAT(log_.lines,
              ElementsAre("begun", "1 one", "2 four", "begun", "1 again", "2 five", "3 not kept",
                          "4 without a name", "begun", "1 of another mailbox"));
}

TEST_F(SessionTest, AKickedClientIsToldWhyAndCannotResume) {
  connect();
  session().kick(Error(Code::permission_denied, "no cheating"));
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("begun", AllOf(StartsWith("ended permission_denied"),
                                                     EndsWith("no cheating"))));
  EXPECT_FALSE(client_->is_connected());
  const auto kicked = lobby_.last;
  EXPECT_TRUE(kicked->has_ended());
  EXPECT_THAT(kicked->push(test::make_echo("late")), test::fails_with(Code::unavailable));
}

TEST_F(SessionTest, SessionsOfTwoClientsAreApart) {
  connect();
  const auto first = lobby_.last;
  PushLog other;
  const auto client = connect(other, "alice");
  EXPECT_NE(first->number(), session().number());
  push("to the second");
  EXPECT_TRUE(first->push(test::make_echo("to the first")));
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("begun", "1 to the first"));
  EXPECT_THAT(other.lines, ElementsAre("begun", "1 to the second"));
}

TEST_F(SessionTest, AServerThatDrainsDoesNotDisturbTheSessionOfTheNextOne) {
  connect();
  const auto former = lobby_.last;
  for (const char* const text : {"one", "two", "three"}) push(text);
  settle();
  auto sleeping = coroutine::spawn("sleeper", [&] {
    test::SleepRequest request;
    request.set_milliseconds(1'000);
    return test::EchoClient(*client_).sleep(request);
  });
  settle();
  auto stopping = coroutine::spawn("stop", [&, server = std::move(server_)]() mutable {
    return server->stop(Deadline::after(5s));
  });
  settle();
  start_server({});
  ASSERT_TRUE(coroutine::sleep_for(200ms));
  EXPECT_TRUE(test::EchoClient(*client_).echo(test::make_echo("hello")));
  EXPECT_TRUE(former->push(test::make_echo("of the former session")));
  push("of the next session");
  EXPECT_TRUE(sleeping.join(Deadline::after(10s)));
  EXPECT_TRUE(stopping.join(Deadline::after(10s)));
  settle();
  EXPECT_THAT(log_.lines,
              ElementsAre("begun", "1 one", "2 two", "3 three", "begun", "1 of the next session"));
  EXPECT_TRUE(client_->is_connected());
}

TEST_F(SessionTest, AServerMayNotPushToAClientWithoutASession) {
  const net::Endpoint place{.address = "server", .port = 3};
  auto listener = network_.listen(place).value();
  Client client(network_, {place.address, place.port}, {});
  auto call = coroutine::spawn(
      "call", [&] { return test::EchoClient(client).echo(test::make_echo("hello")); });
  test::RawPeer server(listener->accept(Deadline::after(1s)).value());
  server.say_hello({});
  EXPECT_TRUE(server.receive());
  server.send({.type = FrameType::push, .call_id = 1}, "unasked");
  EXPECT_THAT(call.join(Deadline::after(1s)), test::fails_with(Code::invalid_argument));
}

TEST_F(SessionTest, AServerWithoutSessionsSaysSoToTheSink) {
  const net::Endpoint place{.address = "server", .port = 3};
  Server nodes(network_, {});
  ASSERT_TRUE(nodes.add(service_));
  ASSERT_TRUE(nodes.listen(place, {.door = Door::nodes}));
  Client client(network_, {place.address, place.port}, {.pushes = &log_});
  EXPECT_TRUE(test::EchoClient(client).echo(test::make_echo("hello")));
  EXPECT_THAT(log_.lines, ElementsAre(StartsWith("ended unimplemented")));
}

TEST_F(SessionTest, AResumedSessionHasThePrincipalOfTheLastLogin) {
  std::string token = "alice moderator";
  client_ = std::make_unique<Client>(
      network_, net::HostPort{endpoint_.address, endpoint_.port},
      Client::Options{.token = [&] { return Result<std::string>(token); }, .pushes = &log_});
  EXPECT_TRUE(test::EchoClient(*client_).echo(test::make_echo("hello")));
  EXPECT_TRUE(session().principal().has_role("moderator"));
  token = "alice";
  cut();
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("begun", "resumed"));
  EXPECT_FALSE(session().principal().has_role("moderator"));
}

TEST_F(SessionTest, AClientWithoutASinkHasNoSession) {
  Client plain(network_, {endpoint_.address, endpoint_.port}, {});
  EXPECT_TRUE(test::EchoClient(plain).echo(test::make_echo("hello")));
  EXPECT_EQ(lobby_.last, nullptr);
}

// A client that speaks the frames itself.
class RawSessionTest : public SessionTest {
 protected:
  // A connection of that principal that has its session. Suspends.
  test::RawPeer open(const std::string& principal, const std::string& session = "",
                     std::uint64_t received_push = 0) {
    test::RawPeer peer(network_);
    peer.say_hello({.token = principal,
                    .keeps_session = true,
                    .session = session,
                    .received_push = received_push});
    const auto answer = peer.receive();
    hello_.Clear();
    EXPECT_TRUE(answer && hello_.ParseFromString(answer->message));
    return peer;
  }
  // The lobby hears of its session. Suspends.
  static void call(test::RawPeer& peer) {
    peer.call("hello");
    EXPECT_EQ(peer.receive().value().header.type, FrameType::reply);
  }
  static void acknowledge(test::RawPeer& peer, std::uint64_t number) {
    peer.send({.type = FrameType::push_ack, .call_id = number});
  }

  Hello hello_;  // The last one of the server.
};

TEST_F(RawSessionTest, WhatWasNotAcknowledgedIsSentAgain) {
  auto peer = open("alice");
  call(peer);
  for (const char* const text : {"one", "two", "three"}) push(text);
  EXPECT_EQ(peer.next_push(), "push 1");
  acknowledge(peer, 1);
  settle();
  auto again = open("alice", hello_.session(), /*received_push=*/2);
  EXPECT_TRUE(hello_.is_resumed());
  EXPECT_EQ(again.next_push(), "push 3");
  EXPECT_EQ(session().statistics().acknowledged_number, 2u);
}

TEST_F(RawSessionTest, ASecretOfAnotherPrincipalIsOfNoUse) {
  auto peer = open("alice");
  call(peer);
  const auto of_alice = lobby_.last;
  const std::string secret = hello_.session();
  EXPECT_EQ(secret.size(), 16u);
  push("for alice");
  auto thief = open("mallory", secret);
  EXPECT_FALSE(hello_.is_resumed());
  EXPECT_NE(hello_.session(), secret);
  EXPECT_EQ(thief.next_push(), "nothing");
  EXPECT_TRUE(of_alice->is_connected());
  EXPECT_EQ(peer.next_push(), "push 1");
}

TEST_F(RawSessionTest, ASessionHasOneSocketAndTheOlderIsToldWhyItEnds) {
  auto older = open("alice");
  call(older);
  auto newer = open("alice", hello_.session());
  push("one");
  EXPECT_EQ(newer.next_push(), "push 1");
  const Error bye = older.receive_bye();
  EXPECT_EQ(bye.code(), Code::aborted);
  EXPECT_THAT(bye.message(), HasSubstr("another connection"));
  settle();
  EXPECT_TRUE(session().is_connected());
}

TEST_F(RawSessionTest, AnAcknowledgementOfWhatWasNeverSentEndsTheConnection) {
  auto peer = open("alice");
  call(peer);
  push("one");
  acknowledge(peer, 2);
  EXPECT_EQ(peer.receive_bye().code(), Code::invalid_argument);
  auto again = open("alice", hello_.session(), /*received_push=*/7);
  EXPECT_EQ(again.receive_bye().code(), Code::invalid_argument);
  EXPECT_FALSE(session().has_ended());
}

TEST_F(RawSessionTest, AClientThatForgetsWhatItHasIsToldAGap) {
  auto peer = open("alice");
  call(peer);
  for (const char* const text : {"one", "two", "three"}) push(text);
  acknowledge(peer, 2);
  settle();
  auto again = open("alice", hello_.session(), /*received_push=*/0);
  EXPECT_EQ(again.next_push(), "push_gap 2");
  EXPECT_EQ(again.next_push(), "push 3");
}

TEST_F(RawSessionTest, ASessionThatNobodyKnowsEndsWithItsSocket) {
  {
    auto peer = open("alice");
  }
  settle();
  EXPECT_EQ(server_->statistics().sessions.session_count, 0u);
}

TEST_F(RawSessionTest, ASocketThatBreaksInTheHandshakeLeavesNoSession) {
  {
    test::RawPeer peer(network_);
    peer.say_hello({.token = "alice", .keeps_session = true});
  }
  auto peer = open("bob");
  call(peer);
  ASSERT_TRUE(coroutine::sleep_for(61s));
  EXPECT_EQ(server_->statistics().sessions.session_count, 1u);
}

TEST_F(RawSessionTest, ASlowClientMakesNobodyWaitAndIsToldItsGap) {
  start({.ring_count_max = 10, .ring_bytes_max = 100'000});
  auto slow = open("alice");
  call(slow);
  const auto of_slow = lobby_.last;
  PushLog log;
  const auto fast = connect(log, "bob");
  const auto of_fast = lobby_.last;
  // More than its output and its ring hold.
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(of_slow->push(test::make_echo(std::string(9'000, 'x'))));
    ASSERT_TRUE(of_fast->push(test::make_echo("quick")));
  }
  settle();
  EXPECT_EQ(log.lines.size(), 101u);
  EXPECT_LE(of_slow->statistics().ring_bytes, 100'000u);
  // It reads on, and acknowledges: each number comes once, or is told as lost.
  std::uint64_t seen = 0;
  std::uint64_t gap_count = 0;
  while (seen < 100) {
    const auto frame = slow.receive(10s);
    ASSERT_TRUE(frame);
    if (frame->header.type == FrameType::push) {
      EXPECT_EQ(frame->header.call_id, seen + 1);
    } else {
      ASSERT_EQ(frame->header.type, FrameType::push_gap);
      EXPECT_GT(frame->header.call_id, seen);
      ++gap_count;
    }
    seen = frame->header.call_id;
    acknowledge(slow, seen);
  }
  EXPECT_GT(gap_count, 0u);
  EXPECT_TRUE(of_slow->is_connected());
}

TEST_F(RawSessionTest, AbandonedSessionsMakeRoomForNewOnes) {
  start({.count_max = 2});
  {
    auto first = open("alice");
    call(first);
  }
  const auto forsaken = lobby_.last;
  {
    auto second = open("bob");
    call(second);
  }
  const auto younger = lobby_.last;
  settle();
  auto third = open("carol");
  EXPECT_TRUE(forsaken->has_ended());
  EXPECT_FALSE(younger->has_ended());
}

TEST_F(RawSessionTest, AllRingsTogetherAreBounded) {
  start({.bytes_max = 10'000});
  auto first = open("alice");
  call(first);
  const auto of_first = lobby_.last;
  auto second = open("bob");
  call(second);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(of_first->push(test::make_echo(std::string(900, 'x'))));
    EXPECT_TRUE(session().push(test::make_echo(std::string(900, 'x'))));
  }
  EXPECT_LE(server_->statistics().sessions.ring_bytes, 11'000u);
  EXPECT_GE(session().statistics().ring_count, 1u);
}

TEST_F(RawSessionTest, AClientAboveItsRateIsSlowedThenRefusedThenDisconnected) {
  start({.calls_per_second_max = 10});
  auto peer = open("alice");
  const TimePoint begin = now();
  // Each outcome is "ok", or the code of the error.
  const auto outcomes = [&](std::uint64_t first, std::uint64_t last) {
    std::vector<std::string> all;
    for (std::uint64_t id = first; id <= last; ++id) {
      const auto frame = peer.receive(10s);
      if (!frame) return all;
      all.push_back(frame->header.code == 0
                        ? "ok"
                        : std::string(to_string(code_from_number(frame->header.code))));
    }
    return all;
  };
  // Ten at once, one that slows it for a tenth of a second, and then eleven in one read.
  for (std::uint64_t id = 1; id <= 22; ++id) peer.call("hello", id);
  const auto first = outcomes(1, 22);
  EXPECT_EQ(std::ranges::count(first, "ok"), 21);
  EXPECT_EQ(std::ranges::count(first, "resource_exhausted"), 1);
  EXPECT_LT(now() - begin, 1s) << "what has been read is served";
  // Nothing more is read until it is within the rate.
  peer.call("hello", 23);
  EXPECT_THAT(outcomes(23, 23), ElementsAre("ok"));
  EXPECT_GE(now() - begin, 1s);
  const auto counts = server_->statistics().sessions;
  EXPECT_EQ(counts.limited_count, 1u);
  EXPECT_GE(counts.slowed_count, 10u);

  for (std::uint64_t id = 24; id <= 90; ++id) peer.call("hello", id);
  EXPECT_EQ(peer.receive_bye().code(), Code::resource_exhausted);
  EXPECT_EQ(server_->statistics().sessions.flooded_count, 1u);
  // Another connection of the session does not make it forget.
  auto again = open("alice", hello_.session());
  EXPECT_TRUE(hello_.is_resumed());
}

TEST_F(RawSessionTest, APushAboveTheRingIsRefused) {
  auto peer = open("alice");
  call(peer);
  EXPECT_THAT(session().push(test::make_echo(std::string(300'000, 'x'))),
              test::fails_with(Code::resource_exhausted));
}

TEST_F(RawSessionTest, AServerThatStopsEndsItsSessions) {
  auto peer = open("alice");
  call(peer);
  std::string end;
  session().on_end([&](const Error& reason) { end = reason.to_string(); });
  server_.reset();
  EXPECT_THAT(end, StartsWith("unavailable"));
}

TEST_F(SessionTest, TheSameOverWebSockets) {
  net::WebSocketNetwork web(network_);
  Server server(network_, {});
  ASSERT_TRUE(server.add(service_, Server::Audience::everybody));
  server.add_filter(lobby_.filter());
  ASSERT_TRUE(
      server.listen({.address = "server", .port = 2}, {.door = Door::clients, .network = &web}));
  {
    Client browser(web, {"server", 2}, {.pushes = &log_});
    EXPECT_TRUE(test::EchoClient(browser).echo(test::make_echo("hello")));
    push("one");
    settle();
    cut();
    push("two");
    settle();
    EXPECT_THAT(log_.lines, ElementsAre("begun", "1 one", "resumed", "2 two"));
  }
  lobby_.last.reset();
}

}  // namespace
}  // namespace corolane::rpc
