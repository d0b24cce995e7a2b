// SPDX-License-Identifier: MIT
// One connection of a client, without the client, before a server that speaks raw frames: how each
// call ends, and when the connection is over.
#include "rpc/client/detail/client_connection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "rpc/wire/request_extension.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;
using rpc::detail::ClientConnection;
using rpc::detail::Connection;
using rpc::detail::Handshake;

// Records what a connection tells its client.
class RecordingClient final : public ClientConnection::Host {
 public:
  void opened(ClientConnection&) override { events.emplace_back("opened"); }
  void ended(ClientConnection&, const Error* reason) override {
    events.emplace_back(reason == nullptr ? "asked to leave" : "lost");
    if (reason != nullptr) lost = *reason;
  }
  void pushed(ClientConnection&, const rpc::Frame&) override { events.emplace_back("pushed"); }
  void over(ClientConnection& connection) override {
    EXPECT_EQ(connection.pending_count(), 0u);
    events.emplace_back("over");
  }

  std::vector<std::string> events;
  std::optional<Error> lost;
};

using Events = std::vector<std::string>;

// Records what a streaming call receives.
class RecordingCall final : public rpc::detail::PendingCall {
 public:
  void on_reply(const rpc::Frame& frame) override { events.push_back("end " + text(frame)); }
  void on_failure(const Error& reason) override { events.push_back("failed " + reason.message()); }
  Result<void> on_item(const rpc::Frame& frame) override {
    events.push_back("item " + text(frame));
    return {};
  }

  Events events;

 private:
  static std::string text(const rpc::Frame& frame) { return std::string(text_of(frame)); }
};

// A piece of bytes travels for a millisecond.
class ClientConnectionTest : public testing::Test {
 protected:
  static constexpr Duration way = 1ms;
  static constexpr std::size_t payload_max = 64 * 1024;

  void SetUp() override {
    auto listener = network_.listen({"server", 1});
    ASSERT_TRUE(listener);
    auto near = network_.connect({"server", 1}, Deadline::after(1s));
    auto far = (*listener)->accept(Deadline::after(1s));
    ASSERT_TRUE(near && far);
    server_.emplace(std::move(*far));
    connection_ = std::make_unique<ClientConnection>(
        host_, std::move(*near),
        Handshake(Handshake::Role::client, security_, {.payload_bytes_max = payload_max}),
        Connection::Limits{.handshake_time_max = 1s,
                           .keepalive = {.interval = 10h, .patience = 1h}});
    connection_->start();
    ASSERT_EQ(receive().header.type, FrameType::hello);
    EXPECT_FALSE(connection_->takes_calls());
    server_->say_hello({});
    settle();
    ASSERT_TRUE(connection_->takes_calls());
    ASSERT_EQ(host_.events, (Events{"opened"}));
  }

  void TearDown() override {
    if (connection_ == nullptr) return;
    EXPECT_EQ(connection_->pending_count(), 0u);
    connection_->end(Error(Code::unavailable, "the test is over"));
    EXPECT_EQ(std::ranges::count(host_.events, std::string("over")), 1);
    EXPECT_EQ(host_.events.back(), "over");
  }

  // Lets everything arrive that is under way.
  static void settle() { EXPECT_TRUE(coroutine::sleep_for(2 * way)); }

  coroutine::Task<std::string> call(std::string text, Deadline deadline = Deadline::after(1h)) {
    return coroutine::spawn(
        "caller", [this, text = std::move(text), deadline]() -> Result<std::string> {
          EchoReply reply;
          if (auto called = connection_->call(echo_, make_echo(text), reply, nullptr, deadline, "");
              !called)
            return called.error();
          return reply.text();
        });
  }
  // Opens `stream_` and returns its id.
  std::uint64_t open() {
    auto id = connection_->open_stream(stream_, count_, make_echo(""), Deadline::after(1h), "");
    EXPECT_TRUE(id) << id;
    return id.value_or(0);
  }
  Result<void> notify(const std::string& text, Deadline deadline = Deadline::after(1h)) {
    return connection_->notify(note_, make_echo(text), deadline, "");
  }

  RawPeer::Received receive() {
    auto received = server_->receive();
    EXPECT_TRUE(received) << "the client has closed";
    return received.value_or(RawPeer::Received{});
  }
  // Whether the client closes its end, after no more frames.
  bool server_hears_the_end() {
    const TimePoint start = now();
    return !server_->receive() && now() - start < 1h;
  }
  void reply(std::uint64_t id, const std::string& text) {
    server_->send({.type = FrameType::reply, .call_id = id}, make_echo(text).SerializeAsString());
  }

  const rpc::Method echo_ = echo_method("Echo");
  const rpc::Method count_ = echo_method("Count");
  const rpc::Method note_ = echo_method("Note");
  const rpc::Security security_;
  RecordingClient host_;
  RecordingCall stream_;
  sim::SimulatedNetwork network_;
  std::optional<RawPeer> server_;
  std::unique_ptr<ClientConnection> connection_;
};

TEST_F(ClientConnectionTest, RepliesReachTheirCallsInAnyOrder) {
  auto first = call("1");
  auto second = call("2");
  const auto request = receive();
  const auto other_request = receive();
  EXPECT_EQ(request.header.method_id, echo_.id);
  EXPECT_NE(request.header.call_id, other_request.header.call_id);
  EXPECT_EQ(connection_->pending_count(), 2u);
  for (const auto& each : {other_request, request}) {
    server_->send({.type = FrameType::reply, .call_id = each.header.call_id}, each.message);
  }
  EXPECT_EQ(first.join(Deadline::never()), "1");
  EXPECT_EQ(second.join(Deadline::never()), "2");
}

TEST_F(ClientConnectionTest, ErrorOfTheServerArrivesWhole) {
  auto caller = call("");
  const std::string extension = rpc::reply_extension("detail", nullptr, nullptr);
  server_->send({.type = FrameType::reply,
                 .code = static_cast<std::uint8_t>(Code::not_found),
                 .maybe_executed = true,
                 .call_id = receive().header.call_id,
                 .time = 250,
                 .extension_size = static_cast<std::uint32_t>(extension.size())},
                extension + "no such game");
  const Error expected =
      Error(Code::not_found, "no such game").with_maybe_executed().with_retry_after(250ms);
  EXPECT_EQ(caller.join(Deadline::never()),
            Result<std::string>(Error(expected).with_detail("detail")));
}

TEST_F(ClientConnectionTest, ReplyThatCannotBeParsedIsInternal) {
  auto caller = call("");
  server_->send({.type = FrameType::reply, .call_id = receive().header.call_id}, "\xff");
  const auto reply = caller.join(Deadline::never());
  ASSERT_THAT(reply, fails_with(Code::internal));
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_TRUE(connection_->takes_calls());
}

TEST_F(ClientConnectionTest, CallerWhoseDeadlinePassesTellsTheServer) {
  const TimePoint start = now();
  auto caller = call("", Deadline::after(50ms));
  const auto request = receive();
  EXPECT_EQ(request.header.time, 50'000u);
  const auto cancel = receive();
  EXPECT_EQ(now() - start, 50ms + way);
  EXPECT_EQ(cancel.header.type, FrameType::cancel);
  EXPECT_EQ(cancel.header.call_id, request.header.call_id);
  const auto reply = caller.join(Deadline::never());
  ASSERT_THAT(reply, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(reply.error().maybe_executed());
}

TEST_F(ClientConnectionTest, CancelledCallerTellsTheServer) {
  auto caller = call("", Deadline::never());
  const auto request = receive();
  EXPECT_EQ(request.header.time, 0u);
  caller.cancel();
  EXPECT_EQ(receive().header.type, FrameType::cancel);
  const auto reply = caller.join(Deadline::never());
  ASSERT_THAT(reply, fails_with(Code::cancelled));
  EXPECT_TRUE(reply.error().maybe_executed());
}

TEST_F(ClientConnectionTest, ReplyAfterTheCallerGaveUpReachesNoOtherCall) {
  auto gone = call("", Deadline::after(10ms));
  const std::uint64_t late_id = receive().header.call_id;
  EXPECT_FALSE(gone.join(Deadline::never()));
  EXPECT_EQ(receive().header.type, FrameType::cancel);

  auto caller = call("");
  const std::uint64_t id = receive().header.call_id;
  reply(late_id, "late");
  server_->send({.type = FrameType::item, .call_id = late_id});
  reply(id, "in time");

  EXPECT_EQ(caller.join(Deadline::never()), "in time");
  EXPECT_TRUE(connection_->takes_calls());
}

TEST_F(ClientConnectionTest, LostConnectionEndsAllThatWaits) {
  open();
  auto first = call("");
  auto second = call("");
  settle();
  network_.reset(server_->stream());
  for (auto* const caller : {&first, &second}) {
    const auto reply = caller->join(Deadline::never());
    ASSERT_THAT(reply, fails_with(Code::unavailable));
    EXPECT_TRUE(reply.error().maybe_executed());
  }
  ASSERT_TRUE(host_.lost);
  EXPECT_EQ(stream_.events, (Events{"failed " + host_.lost->message()}));
  EXPECT_EQ(host_.events, (Events{"opened", "lost", "over"}));
}

TEST_F(ClientConnectionTest, CodeOfAByeReachesTheCallsThatWait) {
  auto caller = call("");
  settle();
  server_->send({.type = FrameType::bye, .code = static_cast<std::uint8_t>(Code::aborted)}, "why");
  const auto reply = caller.join(Deadline::never());
  ASSERT_THAT(reply, fails_with(Code::aborted));
  EXPECT_EQ(reply.error().message(), "lost the connection to server:1: why");
}

TEST_F(ClientConnectionTest, BrokenStreamTakesNoCallsEvenBeforeItIsReported) {
  network_.reset(connection_->stream());
  EXPECT_FALSE(connection_->takes_calls());
  EXPECT_EQ(host_.events, (Events{"opened"}));
  settle();
  EXPECT_EQ(host_.events, (Events{"opened", "lost", "over"}));
}

TEST_F(ClientConnectionTest, CallsThatRunMayEndAfterTheServerAskedToLeave) {
  auto caller = call("");
  const std::uint64_t id = receive().header.call_id;
  server_->send({.type = FrameType::go_away});
  server_->send({.type = FrameType::go_away});
  EXPECT_EQ(receive().header.type, FrameType::go_away);
  EXPECT_FALSE(connection_->takes_calls());

  reply(id, "the last one");

  EXPECT_EQ(caller.join(Deadline::never()), "the last one");
  EXPECT_TRUE(server_hears_the_end());  // The server may still send.
  EXPECT_EQ(host_.events, (Events{"opened", "asked to leave"}));
  server_->stream().close();
  settle();
  EXPECT_EQ(host_.events, (Events{"opened", "asked to leave", "lost", "over"}));
}

TEST_F(ClientConnectionTest, OpenStreamKeepsALeavingConnectionOpen) {
  const std::uint64_t id = open();
  EXPECT_EQ(receive().header.method_id, count_.id);
  server_->send({.type = FrameType::go_away});
  EXPECT_EQ(receive().header.type, FrameType::go_away);
  server_->send({.type = FrameType::item, .call_id = id}, "1");
  const TimePoint start = now();
  EXPECT_FALSE(server_->receive(1s));
  EXPECT_EQ(now() - start, 1s);
  EXPECT_EQ(stream_.events, (Events{"item 1"}));

  const TimePoint ended_at = now();
  server_->send({.type = FrameType::reply, .call_id = id}, "");
  EXPECT_FALSE(server_->receive(1s));
  EXPECT_EQ(now() - ended_at, 2 * way);  // The client closes at once.
  EXPECT_EQ(stream_.events, (Events{"item 1", "end "}));
}

TEST_F(ClientConnectionTest, LeavingConnectionClosesWhenItsStreamIsAbandoned) {
  const std::uint64_t id = open();
  server_->send({.type = FrameType::go_away});
  settle();
  connection_->give_up(id);
  EXPECT_EQ(receive().header.method_id, count_.id);
  EXPECT_EQ(receive().header.type, FrameType::go_away);
  EXPECT_EQ(receive().header.type, FrameType::cancel);
  EXPECT_TRUE(server_hears_the_end());
}

TEST_F(ClientConnectionTest, IdleConnectionLeavesAtOnce) {
  const TimePoint start = now();
  server_->send({.type = FrameType::go_away});
  EXPECT_EQ(receive().header.type, FrameType::go_away);
  EXPECT_FALSE(server_->receive());
  EXPECT_EQ(now() - start, 2 * way);
}

TEST_F(ClientConnectionTest, AbandonedStreamIsCancelledOnceAndGetsNoMoreRoom) {
  const std::uint64_t id = open();
  connection_->give_room(id, 1000);
  connection_->give_up(id);
  connection_->give_room(id, 1000);
  connection_->give_up(id);
  EXPECT_TRUE(notify("the last frame"));

  EXPECT_EQ(receive().header.type, FrameType::request);
  const auto window = receive();
  EXPECT_EQ(window.header.type, FrameType::window);
  EXPECT_EQ(window.header.time, 1000u);
  EXPECT_EQ(receive().header.type, FrameType::cancel);
  EXPECT_EQ(receive().header.method_id, note_.id);
  server_->send({.type = FrameType::item, .call_id = id}, "late");
  settle();
  EXPECT_TRUE(stream_.events.empty());
}

TEST_F(ClientConnectionTest, ItemOfACallWithOneReplyBreaksTheProtocol) {
  auto caller = call("");
  server_->send({.type = FrameType::item, .call_id = receive().header.call_id});
  const auto reply = caller.join(Deadline::never());
  ASSERT_THAT(reply, fails_with(Code::invalid_argument));
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_TRUE(connection_->broke_protocol());
}

TEST_F(ClientConnectionTest, FrameThatOnlyAClientSendsBreaksTheProtocol) {
  server_->send({.type = FrameType::request});
  EXPECT_TRUE(server_hears_the_end());
  ASSERT_TRUE(host_.lost);
  EXPECT_EQ(host_.lost->code(), Code::invalid_argument);
  EXPECT_TRUE(connection_->broke_protocol());
}

TEST_F(ClientConnectionTest, RequestThatDoesNotFitAFrameIsNotExecuted) {
  EchoRequest large;
  large.set_text(text_above_a_frame());
  EchoReply reply;
  const Deadline deadline = Deadline::after(1h);
  const TimePoint start = now();

  const auto called = connection_->call(echo_, large, reply, nullptr, deadline, "");
  const auto opened = connection_->open_stream(stream_, count_, large, deadline, "");
  const auto noted = connection_->notify(note_, large, deadline, "");

  ASSERT_THAT(called, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(called.error().not_executed());
  ASSERT_THAT(opened, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(opened.error().not_executed());
  ASSERT_THAT(noted, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(noted.error().not_executed());
  EXPECT_EQ(now(), start);
  // Nothing was sent, not even a cancel.
  EXPECT_TRUE(notify("the next frame"));
  EXPECT_EQ(receive().header.method_id, note_.id);
}

TEST_F(ClientConnectionTest, RequestThatWaitsForRoomMayHaveArrivedWhenTheConnectionBreaks) {
  const std::string above_the_mark(300'000, 'x');
  auto caller = call(above_the_mark);
  auto opener = coroutine::spawn("opener", [&]() -> Result<void> {
    RecordingCall stream;
    auto id = connection_->open_stream(stream, count_, make_echo(above_the_mark),
                                       Deadline::after(1h), "");
    if (!id) return id.error();
    // The loss was reported before this task ran: the stream has heard of it.
    EXPECT_EQ(stream.events.size(), 1u);
    return Error(Code::unavailable, stream.events.front()).with_maybe_executed();
  });
  auto notifier = coroutine::spawn("notifier", [&] { return notify(above_the_mark); });
  settle();
  network_.reset(connection_->stream());
  const auto called = caller.join(Deadline::never());
  const auto opened = opener.join(Deadline::never());
  const auto noted = notifier.join(Deadline::never());
  ASSERT_THAT(called, fails_with(Code::unavailable));
  EXPECT_TRUE(called.error().maybe_executed());
  ASSERT_THAT(opened, fails_with(Code::unavailable));
  EXPECT_TRUE(opened.error().maybe_executed());
  ASSERT_THAT(noted, fails_with(Code::unavailable));
  EXPECT_TRUE(noted.error().maybe_executed());
}

TEST_F(ClientConnectionTest, OneWayRequestEndsWhenItIsSent) {
  const TimePoint start = now();
  EXPECT_TRUE(notify("noted"));
  EXPECT_EQ(now(), start);
  EXPECT_EQ(connection_->pending_count(), 0u);
  const auto request = receive();
  EXPECT_EQ(request.header.method_id, note_.id);
  EXPECT_EQ(request.header.call_id, 0u);
  EXPECT_EQ(request.message, make_echo("noted").SerializeAsString());
}

TEST_F(ClientConnectionTest, AnswerToAOneWayRequestEndsNoCall) {
  auto caller = call("");
  const std::uint64_t id = receive().header.call_id;
  EXPECT_TRUE(notify("to a server without this method"));
  server_->send({.type = FrameType::reply,
                 .code = static_cast<std::uint8_t>(Code::unimplemented),
                 .call_id = receive().header.call_id});
  reply(id, "answered");
  EXPECT_EQ(caller.join(Deadline::never()), "answered");
}

TEST_F(ClientConnectionTest, EndIsAtOnceAndOverWaitsForTheTasksInside) {
  auto waiting = call("");
  auto sending = call(std::string(300'000, 'x'));
  settle();
  const TimePoint start = now();

  connection_->end(Error(Code::aborted, "enough"));
  connection_->end(Error(Code::internal, "a second time"));

  EXPECT_EQ(connection_->pending_count(), 0u);
  EXPECT_EQ(host_.events, (Events{"opened", "lost"}));
  const Result<std::string> expected = Error(Code::aborted, "enough").with_maybe_executed();
  EXPECT_EQ(waiting.join(Deadline::never()), expected);
  EXPECT_EQ(sending.join(Deadline::never()), expected);
  EXPECT_EQ(now(), start);
  EXPECT_EQ(host_.events, (Events{"opened", "lost", "over"}));
}

}  // namespace
}  // namespace corolane::test
