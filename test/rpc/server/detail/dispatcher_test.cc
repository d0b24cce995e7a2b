// SPDX-License-Identifier: MIT
// The dispatcher without the server around it: which requests it takes on, in which order they
// begin, how they end, and that nothing of them is left.
#include "rpc/server/detail/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/virtual_time.h"
#include "net/testing/network.h"
#include "rpc/client/detail/client_connection.h"
#include "rpc/server/detail/server_connection.h"
#include "test/rpc/ranked_service.h"
#include "test/rpc/raw_peer.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::Door;
using rpc::FrameType;
using rpc::Priority;
using rpc::Server;
using rpc::detail::Admission;
using rpc::detail::Dispatcher;
using rpc::detail::Handshake;
using rpc::detail::ServerConnection;
using testing::Contains;
using testing::Not;

// How many calls may have a stack before they begin.
const std::size_t beginning_max = Admission({}).beginning_max();

// A dispatcher with one connection, whose client speaks raw frames. A piece of bytes travels for a
// millisecond. No call may be left in the end.
class DispatcherWorld final : private ServerConnection::Host {
 public:
  explicit DispatcherWorld(const Server::Options& options = {}, Door door = Door::nodes)
      : dispatcher(options, client_bytes_) {
    check(dispatcher.add(echo, Server::Audience::as_marked) &&
              dispatcher.add(ranked, Server::Audience::as_marked),
          "the services can be added");
    auto listener = network_.listen({"server", 1});
    check(listener.has_value(), "the port is free");
    peer.emplace(network_);
    auto stream = (*listener)->accept(Deadline::after(1s));
    check(stream.has_value(), "the peer has connected");
    connection.emplace(
        static_cast<ServerConnection::Host&>(*this), 1, std::move(*stream),
        Handshake(Handshake::Role::server, security_, {.payload_bytes_max = 64 * 1024}),
        rpc::detail::Connection::Limits{.handshake_time_max = 1s, .keepalive = {}},
        ServerConnection::Rules{.door = door,
                                .call_count_max = options.calls_per_connection_max,
                                .retry_after = options.admission.retry_after});
    connection->start();
    peer->say_hello({});
    check(peer->receive()->header.type == FrameType::hello, "the connection is open");
  }
  ~DispatcherWorld() {
    settle();
    const Server::Statistics left = statistics();
    EXPECT_EQ(left.running_count, 0u);
    EXPECT_EQ(left.waiting_count, 0u);
    EXPECT_EQ(connection->call_count(), 0u);
    EXPECT_EQ(connection->waiting.waiting_count, 0u);
    for (const auto& method : left.methods) EXPECT_EQ(method.running_count, 0u);
  }

  // Lets everything arrive that is under way.
  static void settle() { EXPECT_TRUE(coroutine::sleep_for(2ms)); }

  // Hands a request to the dispatcher, as its connection does; a task for it does not run yet.
  void serve(std::string_view method, std::uint64_t id, const google::protobuf::Message& request,
             std::chrono::microseconds time_left = 0us) {
    serve_bytes(method, id, request.SerializeAsString(), time_left);
  }
  void serve_bytes(std::string_view method, std::uint64_t id, const std::string& message,
                   std::chrono::microseconds time_left = 0us) {
    dispatcher.serve(*connection, {.header = header(method, id, message, time_left),
                                   .extension = {},
                                   .message = net::bytes_of(message)});
  }
  // So many calls that further ones wait.
  void fill() {
    for (std::size_t i = 0; i < beginning_max; ++i) {
      serve("Ranked/InSession", 1000 + i, make_echo("before"));
    }
    EXPECT_EQ(statistics().waiting_count, 0u);
  }
  // Sends a request, which arrives with all that is sent at the same time.
  void send(std::string_view method, std::uint64_t id, const google::protobuf::Message& request) {
    const std::string message = request.SerializeAsString();
    peer->send(header(method, id, message, 0us), message);
  }

  // All frames until the connection is silent.
  std::vector<RawPeer::Received> replies() {
    std::vector<RawPeer::Received> all;
    while (auto received = peer->receive(1s)) all.push_back(std::move(*received));
    return all;
  }
  // The reply to this call; skips others. Its code is `unknown` when there is none.
  RawPeer::Received reply_to(std::uint64_t id) {
    while (auto received = peer->receive(1s)) {
      if (received->header.call_id == id) return *received;
    }
    return {.header = {.code = static_cast<std::uint8_t>(Code::unknown)}, .message = "no reply"};
  }
  bool is_answered(std::uint64_t id) { return reply_to(id).header.code == 0; }
  // How a call was refused, with the marks that its caller sees.
  Error refusal_of(std::uint64_t id) {
    const RawPeer::Received reply = reply_to(id);
    return rpc::detail::error_of(
        {.header = reply.header, .extension = {}, .message = net::bytes_of(reply.message)},
        nullptr);
  }

  Server::Statistics statistics() const {
    Server::Statistics statistics;
    dispatcher.count_into(statistics);
    return statistics;
  }
  Server::MethodStatistics statistics_of(std::string_view method) const {
    const Server::Statistics all = statistics();
    for (const auto& each : all.methods) {
      if (std::string_view(each.full_name).ends_with(method)) return each;
    }
    check(false, "there is such a method");
    return {};
  }

 private:
  static rpc::FrameHeader header(std::string_view method, std::uint64_t id,
                                 const std::string& message, std::chrono::microseconds time_left) {
    return {.payload_size = static_cast<std::uint32_t>(message.size()),
            .type = FrameType::request,
            .call_id = id,
            .method_id = rpc::method_id("corolane.test." + std::string(method)),
            .time = static_cast<std::uint32_t>(time_left.count())};
  }
  Result<void> log_in(ServerConnection&) override { return {}; }
  Result<void> opened() override { return {}; }
  rpc::detail::PrincipalCounts& principals() override { return principals_; }
  rpc::detail::SessionTable& sessions() override { return sessions_; }
  void serve(ServerConnection& from, const rpc::Frame& frame) override {
    dispatcher.serve(from, frame);
  }
  void ended(ServerConnection&) override { ++ended_count; }

  const rpc::Security security_;
  rpc::detail::SessionTable sessions_{{}, nullptr};
  rpc::detail::PrincipalCounts principals_{{}};
  sim::SimulatedNetwork network_;
  net::ByteBudget client_bytes_{std::size_t{1} << 30};

 public:
  int ended_count = 0;
  EchoService echo;
  RankedService ranked;
  std::optional<RawPeer> peer;
  std::optional<ServerConnection> connection;
  Dispatcher dispatcher;  // Destroyed first: its tasks use all the others.
};

std::uint64_t created_task_count() {
  return coroutine::Scheduler::current().statistics().created_count;
}

constexpr const char* malformed = "\xff";  // A tag that does not end.

TEST(DispatcherTest, RequestRunsInATaskOfItsOwnAndIsAnswered) {
  DispatcherWorld world;
  const std::uint64_t before = created_task_count();
  world.serve("Echo/Echo", 7, make_echo("hello"));
  EXPECT_EQ(created_task_count(), before + 1);
  EXPECT_EQ(world.statistics().running_count, 1u);
  EXPECT_EQ(world.reply_to(7).message, make_echo("hello").SerializeAsString());
  EXPECT_EQ(world.statistics_of("Echo/Echo").call_count, 1u);
}

TEST(DispatcherTest, MethodThatItDoesNotServeIsUnimplemented) {
  DispatcherWorld world({}, Door::clients);
  world.serve("Echo/Nothing", 1, make_echo(""));
  world.serve("Echo/Echo", 2, make_echo("not public"));
  world.serve("Ranked/Login", 3, make_echo("public"));
  for (const std::uint64_t id : {1u, 2u}) {
    EXPECT_EQ(world.refusal_of(id),
              Error(Code::unimplemented, "the server has no such method").with_not_executed());
  }
  EXPECT_TRUE(world.is_answered(3));
  EXPECT_TRUE(world.echo.echoed.empty());
  EXPECT_EQ(world.statistics_of("Echo/Echo").refused_count, 0u);
}

TEST(DispatcherTest, CallsAboveTheLimitOfTheirConnectionAreRefused) {
  DispatcherWorld world({.calls_per_connection_max = 2, .admission = {.retry_after = 70ms}});
  world.serve("Echo/Sleep", 1, make_sleep(100ms));
  world.serve("Echo/Sleep", 2, make_sleep(1ms));
  const std::uint64_t before = created_task_count();
  world.serve("Echo/Echo", 3, make_echo(""));
  EXPECT_EQ(created_task_count(), before);
  const Error refusal = world.refusal_of(3);
  EXPECT_EQ(refusal.code(), Code::resource_exhausted);
  EXPECT_TRUE(refusal.not_executed());
  EXPECT_EQ(refusal.retry_after(), 70ms);
  EXPECT_EQ(world.statistics_of("Echo/Echo").refused_count, 1u);

  EXPECT_TRUE(world.is_answered(2));
  world.serve("Echo/Echo", 4, make_echo(""));
  EXPECT_TRUE(world.is_answered(4));
  EXPECT_TRUE(world.is_answered(1));
}

TEST(DispatcherTest, CallsAboveTheLimitOfTheirMethodAreRefused) {
  DispatcherWorld world({.calls_per_method_max = 1, .admission = {.retry_after = 70ms}});
  world.serve("Echo/Sleep", 1, make_sleep(5ms));
  world.serve("Echo/Sleep", 2, make_sleep(5ms));
  world.serve("Echo/Echo", 3, make_echo("of another method"));
  const Error refusal = world.refusal_of(2);
  EXPECT_EQ(refusal.code(), Code::resource_exhausted);
  EXPECT_EQ(refusal.retry_after(), 70ms);
  EXPECT_TRUE(world.is_answered(3));
  EXPECT_TRUE(world.is_answered(1));
  world.serve("Echo/Sleep", 4, make_sleep(5ms));
  EXPECT_TRUE(world.is_answered(4));
}

TEST(DispatcherTest, RefusedOneWayRequestIsCountedAndNotAnswered) {
  DispatcherWorld world({.calls_per_connection_max = 1});
  world.serve_bytes("Echo/Note", 0, malformed);
  world.serve("Echo/Note", 0, make_echo("noted"));
  world.serve("Echo/Note", 0, make_echo("above the limit"));
  EXPECT_FALSE(world.peer->receive(1s));
  EXPECT_EQ(world.echo.noted, (std::vector<std::string>{"noted"}));
  EXPECT_EQ(world.statistics_of("Echo/Note").refused_count, 2u);
  EXPECT_EQ(world.statistics_of("Echo/Note").call_count, 1u);
}

TEST(DispatcherTest, ErrorsAreCountedByWhoseFaultTheyAre) {
  DispatcherWorld world;
  const auto fail = [&](std::uint64_t id, const Error& error) {
    world.echo.echo_errors.push_back(error);
    world.serve("Echo/Echo", id, make_echo(""));
    EXPECT_EQ(world.refusal_of(id).code(), error.code());
  };
  fail(1, Error(Code::failed_precondition, "the auction is over"));
  fail(2, Error(Code::resource_exhausted, "the lobby is full"));
  fail(3, Error(Code::resource_exhausted, "the store is full").with_origin(Origin::runtime));
  fail(4, Error(Code::internal, "a bug"));
  const auto statistics = world.statistics_of("Echo/Echo");
  EXPECT_EQ(statistics.error_count, 4u);
  const auto exhausted = static_cast<std::size_t>(Code::resource_exhausted);
  EXPECT_EQ(statistics.error_counts[exhausted], 2u);
  EXPECT_EQ(statistics.fault_counts[exhausted], 1u);
  EXPECT_EQ(statistics.fault_count(), 2u);
  EXPECT_EQ(statistics.refusal_count(), 2u);
}

TEST(DispatcherTest, RefusedCallsAreCountedByWhoseFaultThatIs) {
  DispatcherWorld world({.calls_per_connection_max = 1, .calls_per_method_max = 1});
  world.serve_bytes("Echo/Echo", 1, malformed);
  world.serve("Echo/Sleep", 2, make_sleep(5ms));
  world.serve("Echo/Echo", 3, make_echo("above the limit of the caller"));
  EXPECT_EQ(world.statistics_of("Echo/Echo").refused_count, 2u);
  EXPECT_EQ(world.statistics_of("Echo/Echo").fault_count(), 0u);
  EXPECT_EQ(world.statistics_of("Echo/Echo").refusal_count(), 2u);
  EXPECT_TRUE(world.is_answered(2));
}

TEST(DispatcherTest, ACallAboveTheLimitOfItsMethodIsTheServersFault) {
  DispatcherWorld world({.calls_per_method_max = 1});
  world.serve("Echo/Sleep", 1, make_sleep(5ms));
  world.serve("Echo/Sleep", 2, make_sleep(5ms));
  EXPECT_EQ(world.refusal_of(2).code(), Code::resource_exhausted);
  EXPECT_EQ(world.statistics_of("Echo/Sleep").refused_fault_count, 1u);
  EXPECT_EQ(world.statistics_of("Echo/Sleep").fault_count(), 1u);
  EXPECT_EQ(world.statistics_of("Echo/Sleep").refusal_count(), 0u);
  EXPECT_TRUE(world.is_answered(1));
}

TEST(DispatcherTest, MalformedRequestIsRefusedWithoutATask) {
  DispatcherWorld world;
  const std::uint64_t before = created_task_count();
  world.serve_bytes("Echo/Echo", 1, malformed);
  EXPECT_EQ(created_task_count(), before);
  const Error refusal = world.refusal_of(1);
  EXPECT_EQ(refusal.code(), Code::invalid_argument);
  EXPECT_TRUE(refusal.not_executed());
}

TEST(DispatcherTest, LargeRequestsShareABudgetThatTheyGiveBack) {
  DispatcherWorld world({.node_bytes_max = 200'000});
  const SleepRequest large = make_sleep(5ms, std::string(60'000, 'x'));
  for (std::uint64_t round = 0; round < 3; ++round) {
    world.serve("Echo/Sleep", 3 * round, large);
    world.serve("Echo/Sleep", 3 * round + 1, large);
    world.serve("Echo/Echo", 3 * round + 2, make_echo("small"));
    EXPECT_EQ(world.refusal_of(3 * round + 1).code(), Code::resource_exhausted);
    EXPECT_TRUE(world.is_answered(3 * round + 2));
    EXPECT_TRUE(world.is_answered(3 * round));
  }
}

TEST(DispatcherTest, WaitingCallsBeginByPriority) {
  DispatcherWorld world;
  world.fill();
  const std::uint64_t before = created_task_count();
  world.serve("Ranked/Background", 1, make_echo("background"));
  world.serve("Ranked/Login", 2, make_echo("login"));
  world.serve("Ranked/InSession", 3, make_echo("in session"));
  world.serve("Ranked/Control", 4, make_echo("control"));
  EXPECT_EQ(created_task_count(), before);  // They wait without a stack.
  EXPECT_EQ(world.statistics().waiting_count, 4u);

  EXPECT_TRUE(world.dispatcher.drain(Deadline::after(1s)));

  ASSERT_GE(world.ranked.begun.size(), 4u);
  EXPECT_EQ((std::vector(world.ranked.begun.end() - 4, world.ranked.begun.end())),
            (std::vector<std::string>{"control", "in session", "login", "background"}));
  EXPECT_EQ(world.statistics_of("Ranked/Login").call_count, 1u);
}

TEST(DispatcherTest, WaitingCallThatIsCancelledNeverBegins) {
  DispatcherWorld world;
  for (std::size_t i = 0; i < beginning_max; ++i) {
    world.send("Ranked/InSession", 1000 + i, make_echo("before"));
  }
  world.send("Ranked/InSession", 1, make_echo("cancelled"));
  world.send("Ranked/InSession", 2, make_echo("last"));
  world.peer->send({.type = FrameType::cancel, .call_id = 1});
  const auto replies = world.replies();
  EXPECT_EQ(replies.size(), beginning_max + 1);
  for (const auto& reply : replies) EXPECT_NE(reply.header.call_id, 1u);
  EXPECT_THAT(world.ranked.begun, Not(Contains("cancelled")));
  const auto statistics = world.statistics_of("Ranked/InSession");
  EXPECT_EQ(statistics.error_counts[static_cast<std::size_t>(Code::cancelled)], 1u);
}

TEST(DispatcherTest, CallThatWaitedPastItsDeadlineNeverBegins) {
  DispatcherWorld world;
  world.ranked.work_time = 1ms;
  world.fill();
  world.serve("Ranked/InSession", 1, make_echo("late"), 10ms);
  world.serve("Ranked/InSession", 2, make_echo("in time"));
  const Error refusal = world.refusal_of(1);
  EXPECT_EQ(refusal.code(), Code::deadline_exceeded);
  EXPECT_TRUE(refusal.not_executed());
  EXPECT_TRUE(world.dispatcher.drain(Deadline::after(1s)));
  EXPECT_THAT(world.ranked.begun, Contains("in time"));
  EXPECT_THAT(world.ranked.begun, Not(Contains("late")));
}

TEST(DispatcherTest, CallsThatExpiredDoNotMakeTheQueueSeemFast) {
  DispatcherWorld world;
  world.ranked.work_time = 5ms;
  for (std::uint64_t id = 1; id <= beginning_max; ++id) {
    world.serve("Ranked/InSession", id, make_echo("slow"), 200ms);
  }
  world.settle();
  EXPECT_EQ(world.ranked.begun.size(), 40u) << "the others have expired";
  // From now on two calls have a stack; those behind them wait, or are refused if that takes long.
  for (std::uint64_t id = 101; id <= 200; ++id) {
    world.serve("Ranked/InSession", id, make_echo("later"), 100ms);
  }
  EXPECT_LE(world.statistics().waiting_count, 12u) << "each waits for at most half of its time";
  EXPECT_TRUE(world.dispatcher.drain(Deadline::after(1s)));
}

TEST(DispatcherTest, CallsAboveTheLengthOfTheQueueAreShed) {
  DispatcherWorld world({.admission = {.waiting_max = 1, .retry_after = 100ms}});
  world.fill();
  world.serve("Ranked/InSession", 1, make_echo("waits"));
  world.serve("Ranked/Login", 2, make_echo("shed"));
  const Error refusal = world.refusal_of(2);
  EXPECT_EQ(refusal.message(), "the server is overloaded");
  EXPECT_TRUE(refusal.not_executed());
  EXPECT_GE(refusal.retry_after(), 100ms);
  EXPECT_LE(refusal.retry_after(), 200ms);
  EXPECT_TRUE(world.is_answered(1));
  EXPECT_EQ(world.statistics().shed_counts[static_cast<std::size_t>(Priority::login)], 1u);
  EXPECT_EQ(world.statistics_of("Ranked/Login").refused_count, 1u);
}

TEST(DispatcherTest, DrainServesWhatHasArrivedAndRefusesTheRest) {
  DispatcherWorld world;
  const TimePoint start = now();
  world.serve("Echo/Sleep", 1, make_sleep(100ms));
  world.settle();
  world.fill();
  world.serve("Ranked/InSession", 2, make_echo("waiting"));

  world.dispatcher.refuse_all();
  world.serve("Ranked/Control", 3, make_echo("too late"));
  EXPECT_TRUE(world.dispatcher.drain(Deadline::after(1s)));

  EXPECT_EQ(now() - start, 100ms);
  EXPECT_EQ(world.refusal_of(3),
            Error(Code::unavailable, "the server is stopping").with_not_executed());
  EXPECT_TRUE(world.is_answered(2));
  EXPECT_TRUE(world.is_answered(1));
}

TEST(DispatcherTest, DrainCancelsTheRestAtItsDeadline) {
  DispatcherWorld world;
  world.serve("Echo/Sleep", 1, make_sleep(2s));
  const TimePoint start = now();
  EXPECT_THAT(world.dispatcher.drain(Deadline::after(300ms)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 300ms);
  EXPECT_EQ(world.echo.cancelled_count, 1);
  const Error ended = world.refusal_of(1);
  EXPECT_EQ(ended.code(), Code::unavailable);
  EXPECT_TRUE(ended.maybe_executed());
}

TEST(DispatcherTest, DrainThatIsLateLetsNoCallBegin) {
  DispatcherWorld world;
  world.fill();
  world.serve("Ranked/InSession", 1, make_echo("waiting"));
  EXPECT_THAT(world.dispatcher.drain(Deadline::passed()), fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(world.ranked.begun.empty());
  const auto replies = world.replies();
  EXPECT_EQ(replies.size(), beginning_max + 1);
  for (const auto& reply : replies) {
    EXPECT_EQ(code_from_number(reply.header.code), Code::unavailable);
    EXPECT_TRUE(reply.header.not_executed);
  }
}

TEST(DispatcherTest, LostConnectionEndsItsCallsExceptOneWayOnes) {
  DispatcherWorld world;
  world.echo.note_time = 100ms;
  world.serve("Echo/Note", 0, make_echo("runs on"));
  world.serve("Echo/Sleep", 1, make_sleep(2s));
  world.settle();
  // The first of these requests have a task that has not run; the others wait.
  for (std::size_t i = 0; i < beginning_max + 2; ++i) {
    world.send("Ranked/InSession", 1000 + i, make_echo(""));
  }
  world.send("Echo/Note", 0, make_echo("waits on"));
  world.peer->stream().close();
  world.settle();
  EXPECT_EQ(world.echo.cancelled_count, 1);
  EXPECT_TRUE(world.ranked.begun.empty());
  EXPECT_EQ(world.statistics().running_count, 2u);
  EXPECT_EQ(world.ended_count, 0);

  EXPECT_TRUE(world.dispatcher.drain(Deadline::after(1s)));
  EXPECT_EQ(world.echo.noted, (std::vector<std::string>{"runs on", "waits on"}));
  EXPECT_EQ(world.ended_count, 1);
}

TEST(DispatcherTest, CallWithoutAStackIsRefused) {
  coroutine::VirtualTime time;
  coroutine::Scheduler scheduler(time, {.stacks = {.stack_count_max = 2}});
  const auto ran = scheduler.run("main", [] {
    DispatcherWorld world;
    auto other = coroutine::spawn("other", [] { return coroutine::sleep_for(1h); });
    world.serve("Echo/Echo", 1, make_echo(""));
    const Error refusal = world.refusal_of(1);
    EXPECT_EQ(refusal.code(), Code::resource_exhausted);
    EXPECT_TRUE(refusal.not_executed());
    EXPECT_GE(refusal.retry_after(), 100ms);
  });
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace corolane::test
