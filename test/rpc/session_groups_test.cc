// SPDX-License-Identifier: MIT
// Groups: what sessions are pushed from sources that they share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
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
#include "rpc/server/server.h"
#include "test/rpc/echo_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::rpc {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// What a source publishes, as a room would. It keeps all of it.
struct Channel {
  std::vector<News> news;
  std::map<const PushSource*, std::function<void()>> notes;
  std::optional<Error> end;
  std::size_t source_count = 0;

  void say(const std::string& text) { append(News::of(test::make_echo(text))); }
  void append(News next) {
    news.push_back(std::move(next));
    wake();
  }
  void end_with(const Error& error) {
    end = error;
    wake();
  }

 private:
  void wake() {
    for (const auto& [source, note] : std::exchange(notes, {})) note();
  }
};

class ChannelSource final : public PushSource {
 public:
  explicit ChannelSource(Channel& channel) : channel_(channel), next_(channel.news.size()) {
    ++channel_.source_count;
  }
  ~ChannelSource() override {
    --channel_.source_count;
    channel_.notes.erase(this);
  }
  Result<std::optional<News>> poll() override {
    if (next_ < channel_.news.size()) return std::optional(channel_.news[next_++]);
    if (channel_.end) return *channel_.end;
    return std::optional<News>();
  }
  void when_readable(std::function<void()> note) override {
    if (next_ < channel_.news.size() || channel_.end) return note();
    channel_.notes[this] = std::move(note);
  }
  std::string record() const override { return {}; }

 private:
  Channel& channel_;
  std::size_t next_;
};

// Records what a client is pushed; "2: text" is news of group 2.
class NewsLog final : public PushSink {
 public:
  void on_push(const Push& push) override {
    const auto text = push.as<test::EchoRequest>();
    numbers.push_back(push.number);
    add(push.group, text ? text->text() : "of another type");
  }
  void on_gap(std::uint64_t lost_count) override {
    lines.push_back("lost " + std::to_string(lost_count));
  }
  void on_group_gap(std::uint32_t group) override { add(group, "gap"); }
  void on_group_end(std::uint32_t group, const Error& reason) override {
    add(group, "ended " + reason.to_string());
  }
  void on_session(bool is_resumed) override {
    lines.emplace_back(is_resumed ? "resumed" : "begun");
  }

  std::vector<std::string> lines;
  std::vector<std::uint64_t> numbers;

 private:
  void add(std::uint32_t group, const std::string& text) {
    lines.push_back(group == 0 ? text : std::to_string(group) + ": " + text);
  }
};

class SessionGroupsTest : public testing::Test {
 protected:
  SessionGroupsTest() { start({}); }
  ~SessionGroupsTest() override { stop(); }

  void start(const SessionOptions& options) {
    stop();
    server_ = std::make_unique<Server>(network_, Server::Options{.sessions = options});
    ASSERT_TRUE(server_->add(service_, Server::Audience::everybody));
    server_->add_filter([this](Context& context, const Next& next) {
      session_ = context.session();
      return next();
    });
    ASSERT_TRUE(server_->listen(endpoint_, {.door = Door::clients}));
  }
  void stop() {
    client_.reset();
    session_.reset();
    server_.reset();
  }

  // A client that has made a call, so that the test knows its session. Suspends.
  std::unique_ptr<Client> connect(PushSink& log) {
    auto client =
        std::make_unique<Client>(network_, net::HostPort{endpoint_.address, endpoint_.port},
                                 Client::Options{.pushes = &log});
    EXPECT_TRUE(test::EchoClient(*client).echo(test::make_echo("hello")));
    return client;
  }
  void connect() {
    client_ = connect(log_);
    log_.lines.clear();
  }
  std::uint32_t follow(Channel& channel) { return follow(*session_, channel); }
  static std::uint32_t follow(Session& session, Channel& channel) {
    auto group = session.follow(std::make_unique<ChannelSource>(channel));
    EXPECT_TRUE(group);
    return group ? *group : 0;
  }
  void push(const std::string& text) { EXPECT_TRUE(session_->push(test::make_echo(text))); }
  // A client that reads nothing and acknowledges nothing, and its session.
  test::RawPeer open_silent() {
    test::RawPeer peer(network_, endpoint_.port);
    peer.say_hello({.keeps_session = true});
    EXPECT_TRUE(peer.receive());
    peer.call("hello");
    EXPECT_EQ(peer.receive().value().header.type, FrameType::reply);
    return peer;
  }
  SessionCounts counts() const { return server_->statistics().sessions; }
  // Breaks the connections of all clients, without a word.
  void cut() { network_.reset_all(); }
  static void settle() { EXPECT_TRUE(coroutine::sleep_for(50ms)); }

  const net::Endpoint endpoint_{.address = "server", .port = 1};
  sim::SimulatedNetwork network_{{.latency = 1ms}};
  test::EchoService service_;
  Channel room_;
  Channel market_;
  std::shared_ptr<Session> session_;  // Of the last call.
  NewsLog log_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(SessionGroupsTest, AClientIsPushedTheNewsOfTheGroupsThatItsSessionFollows) {
  connect();
  room_.say("before");
  EXPECT_EQ(follow(room_), 1u);
  EXPECT_EQ(follow(market_), 2u);
  room_.say("one");
  market_.say("sold");
  push("direct");
  room_.say("two");
  settle();
  EXPECT_THAT(log_.lines, testing::UnorderedElementsAre("1: one", "2: sold", "direct", "1: two"));
  EXPECT_THAT(log_.numbers, ElementsAre(1u, 2u, 3u, 4u));
  EXPECT_EQ(session_->statistics().group_count, 2u);
  EXPECT_EQ(counts().group_count, 2u);
  EXPECT_EQ(counts().group_push_count, 3u);
}

TEST_F(SessionGroupsTest, SessionsOfOneGroupShareTheBytesOfItsNews) {
  const auto one = open_silent();
  follow(room_);
  const auto other = open_silent();
  follow(room_);
  room_.say("for both");
  settle();
  EXPECT_EQ(room_.news.back().bytes.use_count(), 3);
}

TEST_F(SessionGroupsTest, AResumedSessionContinuesItsGroups) {
  connect();
  follow(room_);
  room_.say("one");
  settle();
  cut();
  room_.say("two");
  settle();
  room_.say("three");
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("1: one", "resumed", "1: two", "1: three"));
}

TEST_F(SessionGroupsTest, AClientThatReadsNothingHoldsUpNeitherItsOwnPushesNorOtherClients) {
  const auto silent = open_silent();
  const std::shared_ptr<Session> slow = session_;
  follow(*slow, room_);
  connect();
  follow(room_);
  for (int i = 0; i < 500; ++i) room_.say(std::to_string(i));
  settle();
  EXPECT_THAT(log_.lines, SizeIs(500));
  EXPECT_EQ(log_.lines.back(), "1: 499");
  // The news take half of its ring at most: a push of its own finds a place without a loss.
  EXPECT_EQ(slow->statistics().ring_count, SessionOptions().ring_count_max / 2);
  EXPECT_TRUE(slow->push(test::make_echo("for you")));
  EXPECT_EQ(slow->statistics().lost_count, 0u);
}

TEST_F(SessionGroupsTest, ASlowClientReadsOnAsItAcknowledges) {
  auto silent = open_silent();
  follow(room_);
  for (int i = 0; i < 200; ++i) room_.say(std::to_string(i));
  for (int i = 1; i <= 128; ++i) EXPECT_EQ(silent.next_push(), "push " + std::to_string(i));
  EXPECT_EQ(silent.next_push(), "nothing");
  silent.send({.type = FrameType::push_ack, .call_id = 100});
  for (int i = 129; i <= 200; ++i) EXPECT_EQ(silent.next_push(), "push " + std::to_string(i));
}

TEST_F(SessionGroupsTest, ABusyGroupHoldsUpNoOther) {
  start({.ring_count_max = 8});
  auto silent = open_silent();
  follow(room_);
  follow(market_);
  for (int i = 0; i < 20; ++i) room_.say(std::to_string(i));
  market_.say("sold");
  settle();
  std::vector<std::uint32_t> groups;
  for (int i = 0; i < 4; ++i) groups.push_back(silent.receive().value().header.time);
  EXPECT_THAT(groups, ElementsAre(1u, 2u, 1u, 1u));
}

TEST_F(SessionGroupsTest, LostNewsAreAGapOfTheirGroup) {
  connect();
  follow(room_);
  room_.say("one");
  room_.append({});
  room_.say("two");
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("1: one", "1: gap", "1: two"));
  EXPECT_EQ(counts().group_gap_count, 1u);
}

TEST_F(SessionGroupsTest, NewsThatAreTooLargeAreAGap) {
  start({.ring_bytes_max = 1'000});
  connect();
  follow(room_);
  room_.say(std::string(2'000, 'x'));
  room_.say("small");
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("1: gap", "1: small"));
}

TEST_F(SessionGroupsTest, NewsTakeNoPlaceOfOtherPushes) {
  start({.ring_bytes_max = 10'000});
  const auto silent = open_silent();
  const std::shared_ptr<Session> slow = session_;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(slow->push(test::make_echo(std::string(1'000, 'x'))));
  follow(*slow, room_);
  room_.say(std::string(6'000, 'x'));
  settle();
  EXPECT_TRUE(slow->push(test::make_echo(std::string(1'000, 'x'))));
  EXPECT_EQ(slow->statistics().ring_count, 6u);
  EXPECT_EQ(counts().group_gap_count, 1u);
}

TEST_F(SessionGroupsTest, NewsOfClientsThatAreAwayTakeNoPlaceOfOtherPushes) {
  start({.bytes_max = 20'000});
  std::vector<std::shared_ptr<Session>> away;
  for (int i = 0; i < 30; ++i) {
    const auto peer = open_silent();
    away.push_back(session_);
    follow(*session_, room_);
  }
  EXPECT_TRUE(away[0]->push(test::make_echo("for you")));
  settle();
  for (int i = 0; i < 20; ++i) {
    room_.say(std::string(500, 'x'));
    settle();
  }
  EXPECT_LT(counts().ring_bytes, 20'000u);
  EXPECT_TRUE(away[1]->push(test::make_echo("for you, too")));
  EXPECT_GE(away[0]->statistics().ring_count, 1u);
  EXPECT_GE(away[1]->statistics().ring_count, 1u);
  EXPECT_EQ(counts().lost_push_count, 0u);
}

TEST_F(SessionGroupsTest, TheSessionsOfAServerFollowABoundedNumberOfGroups) {
  start({.group_count_max = 3});
  connect();
  for (int i = 0; i < 3; ++i) follow(room_);
  EXPECT_THAT(session_->follow(std::make_unique<ChannelSource>(room_)),
              test::fails_with(Code::resource_exhausted));
  client_->unfollow(1);
  settle();
  EXPECT_EQ(follow(room_), 4u);
}

TEST_F(SessionGroupsTest, AClientThatUnfollowsAGroupThatHasEndedIsToldSo) {
  connect();
  follow(room_);
  room_.end_with(Error(Code::not_found, "closed"));
  settle();
  client_->unfollow(1);
  settle();
  EXPECT_THAT(log_.lines,
              ElementsAre("1: ended not_found: closed", "1: ended cancelled: unfollowed"));
}

TEST_F(SessionGroupsTest, AGroupEndsWithItsSource) {
  connect();
  follow(room_);
  room_.say("last");
  room_.end_with(Error(Code::not_found, "the room is closed"));
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("1: last", "1: ended not_found: the room is closed"));
  EXPECT_EQ(room_.source_count, 0u);
  EXPECT_EQ(counts().group_count, 0u);
  // Its number is not used again.
  EXPECT_EQ(follow(market_), 2u);
}

TEST_F(SessionGroupsTest, AClientUnfollowsAGroup) {
  connect();
  follow(room_);
  follow(market_);
  client_->unfollow(1);
  room_.say("while the word is on its way");
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("1: ended cancelled: unfollowed"));
  EXPECT_EQ(room_.source_count, 0u);
  market_.say("sold");
  settle();
  EXPECT_EQ(log_.lines.back(), "2: sold");
}

TEST_F(SessionGroupsTest, AClientThatIsCutUnfollowsWhenItIsBack) {
  connect();
  follow(room_);
  cut();
  client_->unfollow(1);
  room_.say("one");
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("resumed", "1: ended cancelled: unfollowed"));
  EXPECT_EQ(room_.source_count, 0u);
}

TEST_F(SessionGroupsTest, AClientMayUnfollowWhatIsNotThere) {
  connect();
  client_->unfollow(0);
  client_->unfollow(7);
  follow(room_);
  settle();
  room_.say("one");
  settle();
  EXPECT_THAT(log_.lines, ElementsAre("1: one"));
}

TEST_F(SessionGroupsTest, ASessionFollows64Groups) {
  connect();
  for (int i = 0; i < 64; ++i) follow(room_);
  EXPECT_THAT(session_->follow(std::make_unique<ChannelSource>(market_)),
              test::fails_with(Code::resource_exhausted));
  room_.say("to all");
  settle();
  EXPECT_THAT(log_.lines, AllOf(SizeIs(64), Contains("64: to all")));
}

TEST_F(SessionGroupsTest, ASessionThatEndsFollowsNothing) {
  connect();
  follow(room_);
  session_->kick(Error(Code::permission_denied, "cheating"));
  EXPECT_EQ(room_.source_count, 0u);
  EXPECT_THAT(session_->follow(std::make_unique<ChannelSource>(market_)),
              test::fails_with(Code::unavailable));
  EXPECT_EQ(market_.source_count, 0u);
}

TEST_F(SessionGroupsTest, ASessionThatEndsBeforeItReadsItsNewsIsNotPushedThem) {
  connect();
  follow(room_);
  settle();
  room_.say("late");
  session_->kick(Error(Code::permission_denied, "cheating"));
  session_.reset();
  settle();
  EXPECT_THAT(log_.lines, Not(Contains("1: late")));
  EXPECT_EQ(counts().group_push_count, 0u);
  EXPECT_EQ(counts().session_count, 0u);
}

TEST_F(SessionGroupsTest, WhenAllRingsAreHalfFullClientsThatKeepUpStillHaveTheirNews) {
  start({.bytes_max = 20'000});
  std::vector<test::RawPeer> silent;
  for (int i = 0; i < 5; ++i) {
    silent.push_back(open_silent());
    follow(room_);
  }
  connect();
  follow(room_);
  for (int i = 0; i < 20; ++i) {
    room_.say(std::string(500, 'x'));
    settle();
  }
  EXPECT_THAT(log_.lines, AllOf(SizeIs(20), Not(Contains(HasSubstr("gap")))));
}

}  // namespace
}  // namespace corolane::rpc
