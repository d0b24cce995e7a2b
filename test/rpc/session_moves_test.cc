// SPDX-License-Identifier: MIT
// Clients that resume on another server than the one that has their session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "rpc/push_source.h"
#include "rpc/server/detail/session_departures.h"
#include "rpc/server/server.h"
#include "rpc/session_moves.pb.h"
#include "rpc/session_registry.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::rpc {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::StartsWith;

constexpr std::size_t server_count = 3;

// Servers "a", "b" and "c", between which an answer takes a millisecond each way.
class SessionMovesTest : public testing::Test {
 protected:
  class Registry final : public SessionRegistry {
   public:
    Registry(SessionMovesTest& test, std::size_t index) : test_(test), index_(index) {}
    std::string home() const override { return name_of(index_); }
    Result<SessionAnswer> take(const std::string& home, const SessionClaim& claim,
                               Deadline deadline) override {
      return test_.ask(home, claim, deadline);
    }
    Result<void> begin(Session& session) override {
      EXPECT_FALSE(session.has_begun());
      if (auto slept = coroutine::sleep_for(test_.begin_time_); !slept) return slept;
      test_.heard_.push_back("begin " + session.principal().id + " at " + home());
      return test_.refusal_ ? Result<void>(*test_.refusal_) : Result<void>();
    }
    void begun(const Session& session) override {
      EXPECT_TRUE(session.has_begun());
      test_.heard_.push_back("begun " + session.principal().id + " at " + home());
    }
    void arrived(const Session& session) override {
      EXPECT_TRUE(session.has_begun());
      test_.heard_.push_back("arrived " + session.principal().id + " at " + home());
    }
    Result<std::unique_ptr<PushSource>> follow_again(const std::string& record) override {
      return test_.follow_again(record);
    }
    void acknowledged(const Session& session, std::uint64_t kept_number) override {
      test_.heard_.push_back("acknowledged " + std::to_string(kept_number) + " of " +
                             session.principal().id + " at " + home());
    }
    void ended(const Session& session, const Error& reason) override {
      test_.heard_.push_back("ended " + session.principal().id + " at " + home() + ": " +
                             std::string(to_string(reason.code())));
    }

   private:
    SessionMovesTest& test_;
    const std::size_t index_;
  };
  struct Place {
    std::unique_ptr<Registry> registry;
    std::shared_ptr<Session> session;  // That of the last call.
    std::unique_ptr<Server> server;
  };

  SessionMovesTest() {
    for (std::size_t i = 0; i < server_count; ++i) start(i, {});
  }
  ~SessionMovesTest() override {
    for (Place& place : places_) {
      place.server.reset();
      place.session.reset();
    }
  }

  static std::string name_of(std::size_t index) { return {static_cast<char>('a' + index)}; }

  void start(std::size_t index, const SessionOptions& options) {
    Place& place = places_[index];
    place.server.reset();
    place.registry = std::make_unique<Registry>(*this, index);
    place.server = std::make_unique<Server>(
        network_, Server::Options{.sessions = options, .session_registry = place.registry.get()});
    EXPECT_TRUE(place.server->add(service_, Server::Audience::everybody));
    place.server->add_filter([&place](Context& context, const Next& next) {
      place.session = context.session();
      return next();
    });
    const auto login = [](std::string_view token, const LoginPeer&) -> Result<Principal> {
      return Principal{.id = std::string(token)};
    };
    EXPECT_TRUE(
        place.server->listen({"server", port_of(index)}, {.door = Door::clients, .login = login}));
  }
  static std::uint16_t port_of(std::size_t index) { return static_cast<std::uint16_t>(index + 1); }

  Result<SessionAnswer> ask(const std::string& home, const SessionClaim& claim, Deadline deadline) {
    asked_.push_back(home);
    const auto index = static_cast<std::size_t>(home.at(0) - 'a');
    if (home.size() != 1 || index >= server_count) return Error(Code::not_found, "no such server");
    EXPECT_TRUE(coroutine::sleep_for(answer_delay_));
    if (now() < unreachable_until_) return Error(Code::unavailable, "no connection");
    if (is_silent_) {
      static_cast<void>(coroutine::sleep_until(deadline));
      return Error(Code::deadline_exceeded, "no answer");
    }
    auto answer = places_[index].server->give_session(claim, deadline);
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    if (std::exchange(loses_answer_, false)) {
      return Error(Code::unavailable, "the connection is lost").with_maybe_executed();
    }
    return answer;
  }

  // Says "a", "aa" and so on; its record is the last that it has said.
  class Growing final : public PushSource {
   public:
    Growing(SessionMovesTest& test, std::string said) : test_(test), said_(std::move(said)) {
      ++test_.source_count_;
    }
    ~Growing() override { --test_.source_count_; }
    Result<std::optional<News>> poll() override {
      if (said_.size() >= test_.growth_) return std::optional<News>();
      return std::optional(News::of(test::make_echo(said_ += 'a')));
    }
    void when_readable(std::function<void()> note) override {
      if (said_.size() < test_.growth_) return note();
      test_.notes_.push_back(std::move(note));
    }
    std::string record() const override { return said_; }

   private:
    SessionMovesTest& test_;
    std::string said_;
  };
  Result<std::unique_ptr<PushSource>> follow_again(const std::string& record) {
    if (is_lost_) return Error(Code::unimplemented, "no such source here");
    return std::unique_ptr<PushSource>(std::make_unique<Growing>(*this, record));
  }
  void grow_to(std::size_t growth) {
    growth_ = growth;
    for (const auto& note : std::exchange(notes_, {})) note();
  }

  // A connection of that principal to a server, which has answered its hello. Suspends.
  test::RawPeer open(std::size_t index, const std::string& session = "",
                     std::uint64_t received_push = 0, const std::string& principal = "alice") {
    test::RawPeer peer(network_, port_of(index));
    peer.say_hello({.token = principal,
                    .keeps_session = true,
                    .session = session,
                    .received_push = received_push});
    const auto answer = peer.receive();
    hello_.Clear();
    EXPECT_TRUE(answer && hello_.ParseFromString(answer->message));
    return peer;
  }
  // Its server hears of its session. Suspends.
  static void call(test::RawPeer& peer) {
    peer.call("hello");
    EXPECT_EQ(peer.receive().value().header.type, FrameType::reply);
  }
  // What is pushed to the client of the last call of that server.
  void push(std::size_t index, const std::string& text) {
    EXPECT_TRUE(places_[index].session->push(test::make_echo(text)));
  }
  SessionCounts counts(std::size_t index) const {
    return places_[index].server->statistics().sessions;
  }
  static void settle() { EXPECT_TRUE(coroutine::sleep_for(50ms)); }

  sim::SimulatedNetwork network_{{.latency = 1ms}};
  test::EchoService service_;
  std::array<Place, server_count> places_;
  Hello hello_;  // The last one of a server.
  std::vector<std::string> asked_;
  bool loses_answer_ = false;
  bool is_silent_ = false;
  Duration answer_delay_ = 1ms;
  TimePoint unreachable_until_{};
  std::vector<std::string> heard_;  // By the registries.
  std::optional<Error> refusal_;
  Duration begin_time_ = 1ms;
  std::size_t growth_ = 0;  // How far the sources have grown.
  std::size_t source_count_ = 0;
  std::vector<std::function<void()>> notes_;
  bool is_lost_ = false;
};

TEST_F(SessionMovesTest, ASessionMovesToTheServerThatItsClientReaches) {
  auto before = open(0);
  call(before);
  for (const char* const text : {"one", "two", "three"}) push(0, text);
  EXPECT_EQ(before.next_push(), "push 1");
  const std::uint64_t number = places_[0].session->number();
  std::string end;
  places_[0].session->on_end([&](const Error& reason) { end = reason.to_string(); });

  auto after = open(1, hello_.session(), /*received_push=*/1);
  EXPECT_TRUE(hello_.is_resumed());
  EXPECT_EQ(after.next_push(), "push 2");
  EXPECT_EQ(after.next_push(), "push 3");
  call(after);
  EXPECT_EQ(places_[1].session->number(), number);
  push(1, "four");
  EXPECT_EQ(after.next_push(), "push 4");

  EXPECT_THAT(end, StartsWith("aborted"));
  EXPECT_THAT(places_[0].session->push(test::make_echo("late")),
              test::fails_with(Code::unavailable));
  EXPECT_EQ(before.next_push(), "push 2");
  EXPECT_EQ(before.next_push(), "push 3");
  EXPECT_EQ(before.receive_bye().code(), Code::aborted);
  EXPECT_EQ(counts(0).departed_count, 1u);
  EXPECT_EQ(counts(1).arrived_count, 1u);
  EXPECT_EQ(counts(0).session_count, 0u);
  EXPECT_EQ(counts(1).session_count, 1u);
}

TEST_F(SessionMovesTest, ASessionContinuesItsGroupsWhereItMoves) {
  auto before = open(0);
  call(before);
  EXPECT_EQ(places_[0].session->follow(std::make_unique<Growing>(*this, "")), 1u);
  grow_to(2);
  EXPECT_EQ(before.receive_news(), "1: a");
  EXPECT_EQ(before.receive_news(), "1: aa");

  auto after = open(1, hello_.session(), /*received_push=*/1);
  EXPECT_EQ(after.receive_news(), "1: aa");
  grow_to(3);
  EXPECT_EQ(after.receive_news(), "1: aaa");
  EXPECT_EQ(after.receive_news(), "nothing");
  call(after);
  EXPECT_EQ(places_[1].session->follow(std::make_unique<Growing>(*this, "aa")), 2u);
  EXPECT_EQ(after.receive_news(), "2: aaa");
}

TEST_F(SessionMovesTest, TheSourcesOfASessionThatHasMovedAreKeptForAMoment) {
  auto before = open(0);
  call(before);
  EXPECT_TRUE(places_[0].session->follow(std::make_unique<Growing>(*this, "")));
  auto after = open(1, hello_.session());
  EXPECT_EQ(source_count_, 2u);
  EXPECT_TRUE(coroutine::sleep_for(4s));
  EXPECT_EQ(source_count_, 1u);
  EXPECT_EQ(counts(0).group_count, 0u);
  EXPECT_EQ(counts(1).group_count, 1u);
}

TEST_F(SessionMovesTest, AGroupThatCannotBeFollowedWhereTheSessionMovesEnds) {
  auto before = open(0);
  call(before);
  EXPECT_TRUE(places_[0].session->follow(std::make_unique<Growing>(*this, "")));
  is_lost_ = true;
  auto after = open(1, hello_.session());
  EXPECT_EQ(after.receive_news(), "1: ended unimplemented: no such source here");
}

TEST_F(SessionMovesTest, AClientThatHasNotHeardOfTheMoveIsFoundAgain) {
  auto first = open(0);
  call(first);
  push(0, "one");
  const std::string token = hello_.session();
  // Each of these is cut before its client reads the answer, so it goes on naming the first server.
  for (const std::size_t index : {1, 2, 1, 0, 2}) {
    auto peer = open(index, token);
    EXPECT_TRUE(hello_.is_resumed()) << index;
    EXPECT_EQ(peer.next_push(), "push 1") << index;
  }
  std::size_t session_count = 0;
  for (std::size_t i = 0; i < server_count; ++i) session_count += counts(i).session_count;
  EXPECT_EQ(session_count, 1u);
}

TEST_F(SessionMovesTest, OfTwoConnectionsThatResumeAtOnceOneHasTheSession) {
  auto first = open(0);
  call(first);
  push(0, "one");
  const std::string token = hello_.session();
  std::vector<coroutine::Task<void>> tasks;
  std::vector<Hello> hellos;
  std::vector<test::RawPeer> peers;
  for (const std::size_t index : {1, 2, 1, 2}) {
    tasks.push_back(coroutine::spawn("resume", [&, index] {
      test::RawPeer peer(network_, port_of(index));
      peer.say_hello({.token = "alice", .keeps_session = true, .session = token});
      const auto answer = peer.receive();
      ASSERT_TRUE(answer);
      // The server that gave it away at once may say bye before it says hello.
      if (answer->header.type == FrameType::hello) {
        EXPECT_TRUE(hellos.emplace_back().ParseFromString(answer->message));
      }
      peers.push_back(std::move(peer));
    }));
  }
  for (auto& task : tasks) EXPECT_TRUE(task.join(Deadline::never()));
  settle();
  for (const Hello& hello : hellos) EXPECT_TRUE(hello.is_resumed());
  std::size_t session_count = 0;
  std::size_t connected_count = 0;
  for (std::size_t i = 0; i < server_count; ++i) {
    session_count += counts(i).session_count;
    connected_count += counts(i).connected_count;
  }
  EXPECT_EQ(session_count, 1u);
  EXPECT_EQ(connected_count, 1u);
}

TEST_F(SessionMovesTest, AThiefWithTheSecretOfAnotherPrincipalGetsNothing) {
  auto owner = open(0);
  call(owner);
  const std::string token = hello_.session();
  push(0, "for alice");
  auto thief = open(1, token, 0, "mallory");
  EXPECT_FALSE(hello_.is_resumed());
  EXPECT_EQ(thief.next_push(), "nothing");
  EXPECT_EQ(owner.next_push(), "push 1");
  EXPECT_TRUE(places_[0].session->is_connected());
  EXPECT_EQ(counts(1).refused_count, 1u);
}

TEST_F(SessionMovesTest, AThiefDoesNotDisturbTheOwnerWhoResumesAtTheSameTime) {
  auto owner = open(0);
  call(owner);
  push(0, "for alice");
  const std::string token = hello_.session();
  auto thief = coroutine::spawn("thief", [&] {
    test::RawPeer peer(network_, port_of(1));
    peer.say_hello({.token = "mallory", .keeps_session = true, .session = token});
    EXPECT_TRUE(peer.receive());
  });
  auto again = open(1, token);
  EXPECT_TRUE(hello_.is_resumed());
  EXPECT_EQ(again.next_push(), "push 1");
  EXPECT_TRUE(thief.join(Deadline::never()));
}

TEST_F(SessionMovesTest, ALostAnswerLosesNoSession) {
  auto before = open(0);
  call(before);
  push(0, "one");
  loses_answer_ = true;
  auto after = open(1, hello_.session());
  EXPECT_TRUE(hello_.is_resumed());
  EXPECT_EQ(after.next_push(), "push 1");
}

TEST_F(SessionMovesTest, AClientThatIsCutWhileItsSessionMovesFindsItWhereItWent) {
  auto before = open(0);
  call(before);
  push(0, "one");
  const std::string token = hello_.session();
  {
    test::RawPeer cut(network_, port_of(1));
    cut.say_hello({.token = "alice", .keeps_session = true, .session = token});
    ASSERT_TRUE(coroutine::sleep_for(2ms));
    EXPECT_EQ(asked_.size(), 1u);
  }
  settle();
  EXPECT_EQ(counts(1).arrived_count, 1u);
  auto after = open(2, token);
  EXPECT_TRUE(hello_.is_resumed());
  EXPECT_EQ(after.next_push(), "push 1");
}

TEST_F(SessionMovesTest, AShortBreakBetweenServersLosesNoSession) {
  auto before = open(0);
  call(before);
  push(0, "one");
  unreachable_until_ = now() + 100ms;
  auto after = open(1, hello_.session());
  EXPECT_TRUE(hello_.is_resumed());
  EXPECT_EQ(after.next_push(), "push 1");
}

TEST_F(SessionMovesTest, AServerThatIsGoneHoldsNoLoginUp) {
  auto before = open(0);
  call(before);
  unreachable_until_ = now() + 1h;
  const TimePoint begin = now();
  auto after = open(1, hello_.session());
  EXPECT_FALSE(hello_.is_resumed());
  EXPECT_LE(now() - begin, 300ms);
}

TEST_F(SessionMovesTest, ServersThatAskInACircleDoNotWaitForOneAnother) {
  auto first = open(0);
  call(first);
  push(0, "one");
  const std::string token = hello_.session();
  {
    auto second = open(1, token);
  }
  {
    auto third = open(2, token);
  }
  // Now the first names the second, and the second the third.
  const TimePoint begin = now();
  std::vector<coroutine::Task<void>> tasks;
  for (const std::size_t index : {0, 1}) {
    tasks.push_back(coroutine::spawn("resume", [&, index] {
      test::RawPeer peer(network_, port_of(index));
      peer.say_hello({.token = "alice", .keeps_session = true, .session = token});
      EXPECT_TRUE(peer.receive());
    }));
  }
  for (auto& task : tasks) EXPECT_TRUE(task.join(Deadline::never()));
  EXPECT_LE(now() - begin, 100ms);
  auto last = open(2, token);
  EXPECT_TRUE(hello_.is_resumed());
}

TEST_F(SessionMovesTest, AClientThatHasLeftTakesNoSessionFromWhereItIsNow) {
  auto first = open(0);
  call(first);
  const std::string token = hello_.session();
  // Its claim is on its way to the first server when the client turns to the third.
  answer_delay_ = 100ms;
  {
    test::RawPeer cut(network_, port_of(1));
    cut.say_hello({.token = "alice", .keeps_session = true, .session = token});
    ASSERT_TRUE(coroutine::sleep_for(5ms));
  }
  answer_delay_ = 1ms;
  auto now_here = open(2, token);
  EXPECT_TRUE(hello_.is_resumed());
  ASSERT_TRUE(coroutine::sleep_for(1s));
  call(now_here);
  EXPECT_TRUE(places_[2].session->is_connected());
}

TEST_F(SessionMovesTest, ALostPushIsToldInItsPlace) {
  auto before = open(0);
  call(before);
  push(0, "one");
  EXPECT_TRUE(places_[0].session->lose());
  push(0, "three");
  auto after = open(1, hello_.session(), /*received_push=*/1);
  EXPECT_EQ(after.next_push(), "push_gap 2");
  EXPECT_EQ(after.next_push(), "push 3");
  call(after);
  EXPECT_EQ(places_[1].session->statistics().lost_count, 2u);  // Told by both servers.
}

TEST_F(SessionMovesTest, AClientThatSaysGoAwayIsKickedAllTheSame) {
  auto peer = open(0);
  call(peer);
  test::SleepRequest sleep;
  sleep.set_milliseconds(2'000);
  peer.send({.type = FrameType::request,
             .call_id = 2,
             .method_id = method_id("corolane.test.Echo/Sleep"),
             .time = 3'000'000},
            sleep.SerializeAsString());
  peer.send({.type = FrameType::go_away});
  settle();
  places_[0].session->kick(Error(Code::permission_denied, "no cheating"));
  EXPECT_EQ(peer.receive_bye().code(), Code::permission_denied);
}

TEST_F(SessionMovesTest, AClientThatWasAwayWhenItWasKickedIsToldWhereverItComes) {
  std::string token;
  {
    auto before = open(0);
    call(before);
    token = hello_.session();
    auto after = open(1, token);
    call(after);
  }
  settle();
  places_[1].session->kick(Error(Code::permission_denied, "no cheating"));
  for (std::size_t i = 0; i < server_count; ++i) {
    test::RawPeer peer(network_, port_of(i));
    peer.say_hello({.token = "alice", .keeps_session = true, .session = token});
    const Error bye = peer.receive_bye();
    EXPECT_EQ(bye.code(), Code::permission_denied) << i;
    EXPECT_EQ(bye.message(), "no cheating");
  }
  auto anew = open(0);
  EXPECT_FALSE(hello_.is_resumed());
}

TEST_F(SessionMovesTest, AServerThatIsGoneLeavesItsClientsANewSession) {
  auto before = open(0);
  call(before);
  const std::string token = hello_.session();
  const auto unknown = token.substr(0, 16) + "z";
  auto peer = open(1, unknown);
  EXPECT_FALSE(hello_.is_resumed());
  EXPECT_TRUE(places_[0].session->is_connected());
  EXPECT_EQ(asked_.back(), "z");
}

TEST_F(SessionMovesTest, AHomeThatIsTooLongIsAskedOfNobody) {
  auto peer = open(1, std::string(16, 's') + std::string(SessionRegistry::home_bytes_max + 1, 'b'));
  EXPECT_FALSE(hello_.is_resumed());
  EXPECT_TRUE(asked_.empty());
}

TEST_F(SessionMovesTest, ASilentServerHoldsUpALoginForTwoSecondsAtMost) {
  auto before = open(0);
  call(before);
  const std::string token = hello_.session();
  const TimePoint begin = now();
  is_silent_ = true;
  auto peer = open(1, token);
  EXPECT_FALSE(hello_.is_resumed());
  EXPECT_LE(now() - begin, 2'100ms);
}

TEST_F(SessionMovesTest, AClientKeepsItsRateWhenItMoves) {
  for (std::size_t i = 0; i < 2; ++i) start(i, {.calls_per_second_max = 10});
  auto before = open(0);
  for (int i = 0; i < 10; ++i) call(before);
  auto after = open(1, hello_.session());
  EXPECT_TRUE(hello_.is_resumed());
  const TimePoint begin = now();
  for (int i = 0; i < 10; ++i) call(after);
  EXPECT_GE(now() - begin, 700ms);
}

TEST_F(SessionMovesTest, TheRegistryHearsWhereEachSessionIs) {
  auto before = open(0);
  auto after = open(1, hello_.session());
  call(after);
  places_[1].session->kick(Error(Code::permission_denied, "no cheating"));
  EXPECT_THAT(heard_, ElementsAre("begin alice at a", "begun alice at a", "arrived alice at b",
                                  "ended alice at b: permission_denied"));
}

TEST_F(SessionMovesTest, TheRegistryMayRefuseAClient) {
  refusal_ = Error(Code::unavailable, "nobody knows its user now");
  test::RawPeer peer(network_, port_of(0));
  peer.say_hello({.token = "alice", .keeps_session = true});
  const Error bye = peer.receive_bye();
  EXPECT_EQ(bye.code(), Code::unavailable);
  EXPECT_EQ(counts(0).session_count, 0u);
  EXPECT_THAT(heard_, ElementsAre("begin alice at a", "ended alice at a: unavailable"));
}

TEST_F(SessionMovesTest, ASessionOfAClientThatLeavesWhileItBeginsEnds) {
  begin_time_ = 20ms;
  {
    test::RawPeer peer(network_, port_of(0));
    peer.say_hello({.token = "alice", .keeps_session = true});
    ASSERT_TRUE(coroutine::sleep_for(5ms));
    EXPECT_EQ(counts(0).session_count, 1u);
  }
  settle();
  EXPECT_EQ(counts(0).session_count, 0u);
  EXPECT_THAT(heard_, ElementsAre("ended alice at a: cancelled"));
}

TEST_F(SessionMovesTest, TheRegistryHearsWhatTheClientHasOfWhatIsKept) {
  auto before = open(0);
  call(before);
  const std::uint64_t type = method_id("corolane.test.EchoRequest");
  push(0, "not kept");
  for (const std::uint64_t kept_number : {11, 12, 13}) {
    EXPECT_TRUE(places_[0].session->push_kept(7, kept_number, type, ""));
    EXPECT_TRUE(places_[0].session->push_kept(7, kept_number, type, "repeated"));
  }
  before.send({.type = FrameType::push_ack, .call_id = 1});
  before.send({.type = FrameType::push_ack, .call_id = 3});
  settle();
  auto after = open(1, hello_.session(), /*received_push=*/4);
  EXPECT_THAT(heard_,
              ElementsAre("begin alice at a", "begun alice at a", "acknowledged 12 of alice at a",
                          "arrived alice at b", "acknowledged 13 of alice at b"));
}

TEST_F(SessionMovesTest, AStampIsPushedOnceAlsoAfterAMove) {
  auto before = open(0);
  call(before);
  const auto push_stamped = [&](std::size_t index, std::uint64_t sequence) {
    Session& session = *places_[index].session;
    const Session::Stamp stamp{.source = 7, .sequence = sequence};
    if (session.has_noted(stamp)) return;
    session.note(stamp);
    EXPECT_TRUE(session.push(method_id("corolane.test.EchoRequest"), ""));
  };
  push_stamped(0, 1);
  push_stamped(0, 2);
  push_stamped(0, 2);
  push_stamped(0, 1);
  EXPECT_EQ(places_[0].session->statistics().pushed_count, 2u);
  const std::uint64_t number = places_[0].session->number();
  auto after = open(1, hello_.session());
  EXPECT_EQ(after.next_push(), "push 1");
  EXPECT_EQ(after.next_push(), "push 2");
  call(after);
  push_stamped(1, 2);
  push_stamped(1, 3);
  EXPECT_EQ(places_[1].session->statistics().pushed_count, 3u);
  EXPECT_EQ(places_[1].server->find_session(number), places_[1].session);
  EXPECT_EQ(places_[0].server->find_session(number), nullptr);
  EXPECT_EQ(places_[0].server->next_home_of_session(number), "b");
  EXPECT_EQ(places_[2].server->next_home_of_session(number), "");
}

TEST_F(SessionMovesTest, AClientOfSeveralServersConnectsToAnyThatIsThere) {
  places_[0].server.reset();
  places_[2].server.reset();
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    Client client(network_, {{"server", 1}, {"server", 2}, {"server", 3}},
                  {.token = [] { return Result<std::string>("alice"); }, .random_seed = seed});
    const auto connected = client.wait_until_connected(Deadline::after(1s));
    EXPECT_TRUE(connected) << connected;
  }
  for (std::size_t i = 0; i < server_count; ++i) places_[i].server.reset();
  Client client(network_, {{"server", 1}, {"server", 2}, {"server", 3}}, {});
  EXPECT_THAT(client.wait_until_connected(Deadline::after(1s)),
              test::fails_with(Code::unavailable));
}

TEST_F(SessionMovesTest, DeparturesAreForgottenInTime) {
  start(0, {.patience = 1s});
  auto before = open(0);
  call(before);
  const std::string token = hello_.session();
  {
    auto after = open(1, token);
  }
  ASSERT_TRUE(coroutine::sleep_for(3s));
  auto late = open(2, token);
  EXPECT_FALSE(hello_.is_resumed());
  EXPECT_EQ(asked_.back(), "a");
}

TEST(SessionDepartures, KeepTheLatestRecordsWithinTheirBytes) {
  detail::SessionDepartures departures({.count_max = 3, .time_max = 1min, .record_bytes_max = 100});
  std::uint64_t number = 0;
  const auto add = [&](const std::string& secret, std::size_t size) {
    departures.add({.secret = secret,
                    .number = ++number,
                    .to = "home of " + secret,
                    .record = std::string(size, 'r')});
  };
  add("one", 60);
  add("two", 60);
  ASSERT_NE(departures.find("one"), nullptr);
  EXPECT_EQ(departures.find("one")->record.size(), 0u);
  EXPECT_EQ(departures.find("two")->record.size(), 60u);
  EXPECT_EQ(departures.record_bytes(), 60u);
  add("two", 30);
  EXPECT_EQ(departures.record_bytes(), 30u);
  EXPECT_EQ(departures.count(), 2u);
  departures.erase("two");
  EXPECT_EQ(departures.record_bytes(), 0u);
  EXPECT_EQ(departures.find("two"), nullptr);
  for (const char* const secret : {"three", "four", "five", "six"}) add(secret, 10);
  EXPECT_EQ(departures.count(), 3u);
  EXPECT_EQ(departures.next_home(number), "home of six");
  EXPECT_EQ(departures.find("three"), nullptr);
  EXPECT_LE(departures.record_bytes(), 30u);
  ASSERT_TRUE(coroutine::sleep_for(61s));
  EXPECT_EQ(departures.find("six"), nullptr);
  EXPECT_EQ(departures.record_bytes(), 0u);
}

}  // namespace
}  // namespace corolane::rpc
