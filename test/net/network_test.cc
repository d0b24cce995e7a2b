// SPDX-License-Identifier: MIT
// connect_to(): over the simulated network, where a test sets the delay and behaviour of each
// address, and once over real sockets.
#include "net/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/network.h"
#include "net/uv/uv_network.h"
#include "test/fixtures/real_loop.h"
#include "test/net/raw_socket.h"
#include "test/net/stream_pair.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using sim::SimulatedNetwork;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::HasSubstr;

constexpr Duration delay = connect_attempt_delay;

// A server on port 1, behind all addresses of "host".
class RacingTest : public testing::Test {
 protected:
  void SetUp() override {
    auto listener = network_.listen({.address = "server", .port = 1});
    ASSERT_TRUE(listener) << listener;
    listener_ = std::move(*listener);
  }

  Result<std::string> connect(Deadline deadline = Deadline::after(10s)) {
    auto stream = connect_to(network_, {.host = "host", .port = 1}, deadline);
    if (!stream) return stream.error();
    return (*stream)->peer_endpoint().address;
  }

  SimulatedNetwork network_{{.latency = 1ms}};
  std::unique_ptr<Listener> listener_;
  const TimePoint start_ = now();
};

TEST_F(RacingTest, ASingleAddressIsConnectedToDirectly) {
  network_.set_addresses("host", {"10.0.0.1"});
  EXPECT_EQ(connect().value_or(""), "10.0.0.1");
  EXPECT_EQ(now() - start_, 2ms);
  network_.set_host("10.0.0.1", {.refuses = true});
  const auto refused = connect();
  ASSERT_THAT(refused, fails_with(Code::unavailable));
  EXPECT_EQ(refused.error().message(), "connect to 10.0.0.1:1: connection refused");
}

TEST_F(RacingTest, AnAddressThatAnswersQuicklyIsTheOnlyOneTried) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2"});
  EXPECT_EQ(connect().value_or(""), "10.0.0.1");
  EXPECT_EQ(now() - start_, 2ms);
  EXPECT_EQ(network_.connect_count(), 1u);
}

TEST_F(RacingTest, TheNextAttemptStartsAfterTheDelayWhileTheFirstContinues) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2"});
  network_.set_host("10.0.0.1", {.is_silent = true});
  EXPECT_EQ(connect().value_or(""), "10.0.0.2");
  EXPECT_EQ(now() - start_, delay + 2ms);
}

TEST_F(RacingTest, ASlowFirstAddressMayStillWin) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2"});
  network_.set_host("10.0.0.1", {.latency = 150ms});  // Answers after 300 ms.
  network_.set_host("10.0.0.2", {.latency = 100ms});  // Would after 250 + 200 ms.
  EXPECT_EQ(connect().value_or(""), "10.0.0.1");
  EXPECT_EQ(now() - start_, 300ms);
  EXPECT_EQ(network_.connect_count(), 2u);
}

TEST_F(RacingTest, ARefusalStartsTheNextAttemptAtOnce) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  network_.set_host("10.0.0.1", {.refuses = true});
  network_.set_host("10.0.0.2", {.refuses = true});
  EXPECT_EQ(connect().value_or(""), "10.0.0.3");
  EXPECT_EQ(now() - start_, 3 * 2ms);
}

TEST_F(RacingTest, ARefusalOfAnEarlierAttemptStartsTheNextOneToo) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  network_.set_host("10.0.0.1", {.latency = 150ms, .refuses = true});  // After 300 ms.
  network_.set_host("10.0.0.2", {.is_silent = true});
  EXPECT_EQ(connect().value_or(""), "10.0.0.3");
  EXPECT_EQ(now() - start_, 300ms + 2ms);
}

TEST_F(RacingTest, FamiliesTakeTurnsStartingWithTheResolversFirst) {
  network_.set_addresses("host", {"2001:db8::1", "2001:db8::2", "2001:db8::3", "10.0.0.1"});
  for (const char* broken : {"2001:db8::1", "2001:db8::2", "2001:db8::3"}) {
    network_.set_host(broken, {.is_silent = true});
  }
  EXPECT_EQ(connect().value_or(""), "10.0.0.1");
  EXPECT_EQ(now() - start_, delay + 2ms) << "the second attempt, though the last address";
}

TEST_F(RacingTest, TheLosersAreCancelledAndLeaveNothingBehind) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  network_.set_host("10.0.0.1", {.is_silent = true});
  network_.set_host("10.0.0.2", {.latency = 1h});
  EXPECT_EQ(connect(Deadline::never()).value_or(""), "10.0.0.3");
  EXPECT_EQ(now() - start_, 2 * delay + 2ms);
  EXPECT_TRUE(listener_->accept(Deadline::passed())) << "the winner's";
  EXPECT_THAT(listener_->accept(Deadline::passed()), fails_with(Code::deadline_exceeded));
}

TEST_F(RacingTest, OneOfTwoSimultaneousConnectionsIsClosed) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2"});
  network_.set_host("10.0.0.1", {.latency = 150ms});  // Both at 300 ms.
  network_.set_host("10.0.0.2", {.latency = 25ms});
  auto stream = connect_to(network_, {.host = "host", .port = 1}, Deadline::after(10s));
  ASSERT_TRUE(stream) << stream;
  EXPECT_EQ(now() - start_, 300ms);
  auto first = listener_->accept(Deadline::passed());
  ASSERT_TRUE(first) << first;
  // The other connection may have been cancelled in time; if not, it is closed.
  if (auto second = listener_->accept(Deadline::passed())) {
    EXPECT_TRUE(coroutine::sleep_for(1s));
    const bool first_ended = read_text(**first, Deadline::passed()).has_value();
    const bool second_ended = read_text(**second, Deadline::passed()).has_value();
    EXPECT_NE(first_ended, second_ended);
  }
}

TEST_F(RacingTest, AnErrorListsAllRefusals) {
  network_.set_addresses("host", {"10.0.0.1", "2001:db8::1"});
  network_.set_host("10.0.0.1", {.refuses = true});
  network_.set_host("2001:db8::1", {.refuses = true});
  const auto failed = connect();
  ASSERT_THAT(failed, fails_with(Code::unavailable));
  EXPECT_EQ(failed.error().message(),
            "connect to host: 2 attempts: connect to 10.0.0.1:1: connection refused; "
            "connect to [2001:db8::1]:1: connection refused");
  EXPECT_EQ(now() - start_, 2 * 2ms);
}

TEST_F(RacingTest, AttemptsEndAtTheDeadlineAndTheErrorNamesTheSilentOnes) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  network_.set_host("10.0.0.1", {.is_silent = true});
  network_.set_host("10.0.0.2", {.refuses = true});
  network_.set_host("10.0.0.3", {.is_silent = true});
  const auto failed = connect(Deadline::after(1s));
  ASSERT_THAT(failed, fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start_, 1s);
  EXPECT_THAT(failed.error().message(), HasSubstr("3 attempts"));
  EXPECT_THAT(failed.error().message(), HasSubstr("10.0.0.1:1: no answer"));
  EXPECT_THAT(failed.error().message(), HasSubstr("10.0.0.2:1: connection refused"));
  EXPECT_THAT(failed.error().message(), HasSubstr("10.0.0.3:1: no answer"));
}

TEST_F(RacingTest, ADeadlineBeforeTheDelayTriesOneAddressOnly) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2"});
  network_.set_host("10.0.0.1", {.is_silent = true});
  EXPECT_THAT(connect(Deadline::after(delay / 2)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start_, delay / 2);
  EXPECT_EQ(network_.connect_count(), 1u);
}

TEST_F(RacingTest, CancellationEndsAllAttemptsAtOnce) {
  network_.set_addresses("host", {"10.0.0.1", "10.0.0.2"});
  network_.set_host("10.0.0.1", {.is_silent = true});
  network_.set_host("10.0.0.2", {.is_silent = true});
  for (const Duration cancelled_after : {delay / 2, 2 * delay}) {
    const TimePoint start = now();
    auto racing = coroutine::spawn("racing", [&] { return connect(Deadline::after(1h)); });
    ASSERT_TRUE(coroutine::sleep_for(cancelled_after));
    racing.cancel();
    EXPECT_THAT(racing.join(Deadline::never()), fails_with(Code::cancelled));
    EXPECT_EQ(now() - start, cancelled_after);
  }
}

TEST_F(RacingTest, NoMoreAddressesAreTriedThanTheBoundAllows) {
  std::vector<std::string> addresses;
  for (int number = 1; number <= 100; ++number) {
    addresses.push_back("10.0.0." + std::to_string(number));
    network_.set_host(addresses.back(), {.refuses = true});
  }
  network_.set_addresses("host", addresses);
  EXPECT_THAT(connect(), fails_with(Code::unavailable));
  EXPECT_EQ(network_.connect_count(), connect_attempt_count_max);
}

TEST_F(RacingTest, AHostWithoutAddressesIsNotFound) {
  network_.set_addresses("host", {});
  EXPECT_THAT(connect(), fails_with(Code::not_found));
}

// The real network with a name service controlled by the test.
class NamedNetwork : public UvNetwork {
 public:
  NamedNetwork(EventLoop& loop, std::vector<Endpoint> addresses)
      : UvNetwork(loop), addresses_(std::move(addresses)) {}
  Result<std::vector<Endpoint>> resolve(const HostPort&, Deadline) override { return addresses_; }

 private:
  std::vector<Endpoint> addresses_;
};

TEST(ConnectToTest, ReachesAHostByItsName) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    const std::uint16_t port = (*listener)->local_endpoint().port;
    auto stream = connect_to(real.network, {.host = "localhost", .port = port}, soon());
    ASSERT_TRUE(stream) << stream;
    EXPECT_EQ((*stream)->peer_endpoint(), (*listener)->local_endpoint());
  });
}

TEST(ConnectToTest, GetsPastRealAddressesThatRefuseOrAreSilent) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    RawSocket nobody;
    const SilentPeer silent;
    const Endpoint good = (*listener)->local_endpoint();
    NamedNetwork network(real.loop, {nobody.bind(), silent.endpoint, good});
    auto stream = connect_to(network, {.host = "anywhere"}, soon());
    ASSERT_TRUE(stream) << stream;
    EXPECT_EQ((*stream)->peer_endpoint(), good);
  });
}

TEST(NetworkTest, ANetworkWithoutDatagramsReportsSo) {
  class OnlyStreams : public SimulatedNetwork {
   public:
    Result<std::unique_ptr<UdpSocket>> bind_udp(const Endpoint& endpoint,
                                                UdpOptions options) override {
      return Network::bind_udp(endpoint, options);  // NOLINT(bugprone-parent-virtual-call)
    }
  };
  OnlyStreams network;
  EXPECT_THAT(network.bind_udp({.address = "127.0.0.1"}, {}), fails_with(Code::unimplemented));
}

}  // namespace
}  // namespace corolane::net
