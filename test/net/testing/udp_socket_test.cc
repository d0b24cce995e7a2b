// SPDX-License-Identifier: MIT
// Datagrams over the simulated network keep the promises of net/udp.h.
#include "net/testing/udp_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/stream.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using net::bytes_of;
using test::fails_with;
using testing::ElementsAre;

std::string text_of(const net::Datagram& datagram) {
  return {reinterpret_cast<const char*>(datagram.bytes.data()), datagram.bytes.size()};
}

class SimulatedUdpTest : public testing::Test {
 protected:
  std::unique_ptr<net::UdpSocket> bind(const char* address, net::UdpOptions options = {}) {
    auto socket = network_.bind_udp({.address = address, .port = 7}, options);
    EXPECT_TRUE(socket) << socket;
    return socket ? std::move(*socket) : nullptr;
  }
  static net::UdpPeer peer(const net::UdpSocket& socket) {
    return *net::to_udp_peer(socket.local_endpoint());
  }

  SimulatedNetwork network_{{.latency = 3ms}};
};

TEST_F(SimulatedUdpTest, DatagramsArriveAfterTheLatencyInOneBatch) {
  const auto a = bind("10.0.0.1");
  const auto b = bind("10.0.0.2");
  const TimePoint start = now();
  EXPECT_TRUE(a->try_send(peer(*b), bytes_of("one")));
  EXPECT_TRUE(a->try_send(peer(*b), bytes_of("two")));
  const auto batch = b->receive(Deadline::after(1s));
  ASSERT_TRUE(batch) << batch;
  EXPECT_EQ(now() - start, 3ms);
  ASSERT_EQ(batch->size(), 2u);
  EXPECT_EQ(text_of(batch->front()), "one");
  EXPECT_EQ(batch->front().peer, peer(*a));
  EXPECT_THAT(b->receive(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
}

TEST_F(SimulatedUdpTest, ASinkReceivesEachDatagramWhenItIsDue) {
  struct Sink final : net::DatagramSink {
    void on_datagrams(std::span<const net::Datagram> datagrams) override {
      for (const auto& datagram : datagrams) texts.push_back(text_of(datagram));
    }
    std::vector<std::string> texts;
  };
  const auto a = bind("10.0.0.1");
  const auto b = bind("10.0.0.2");
  Sink sink;
  b->set_sink(sink);
  EXPECT_TRUE(a->try_send(peer(*b), bytes_of("slow")));
  network_.set_host("10.0.0.2", {.latency = 1ms});
  EXPECT_TRUE(a->try_send(peer(*b), bytes_of("fast")));
  EXPECT_TRUE(coroutine::sleep_for(2ms));
  EXPECT_THAT(sink.texts, ElementsAre("fast"));
  EXPECT_TRUE(coroutine::sleep_for(2ms));
  EXPECT_THAT(sink.texts, ElementsAre("fast", "slow"));
}

TEST_F(SimulatedUdpTest, LongDatagramsAreTruncatedAndExcessOnesAreLost) {
  const auto a = bind("10.0.0.1");
  const auto b = bind("10.0.0.2", {.datagram_bytes_max = 4, .receive_buffer_bytes = 15});
  for (int round = 0; round < 3; ++round) EXPECT_TRUE(a->try_send(peer(*b), bytes_of("12345")));
  EXPECT_TRUE(a->try_send(peer(*b), bytes_of("1")));
  const auto batch = b->receive(Deadline::after(1s));
  ASSERT_TRUE(batch) << batch;
  ASSERT_EQ(batch->size(), 3u);
  EXPECT_EQ(text_of(batch->back()), "1234");
  EXPECT_TRUE(batch->back().is_truncated);
  EXPECT_EQ(b->statistics().truncated_count, 3u);
}

TEST_F(SimulatedUdpTest, ADatagramToASilentOrMissingPeerIsLostWithoutAnError) {
  const auto a = bind("10.0.0.1");
  auto b = bind("10.0.0.2");
  const net::UdpPeer at_b = peer(*b);
  network_.set_host("10.0.0.2", {.is_silent = true});
  EXPECT_TRUE(a->try_send(at_b, bytes_of("x")));
  EXPECT_THAT(b->receive(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  b.reset();
  EXPECT_TRUE(a->try_send(at_b, bytes_of("x")));
}

TEST_F(SimulatedUdpTest, CloseEndsAWaitingCallAndFreesTheAddress) {
  const auto a = bind("10.0.0.1");
  EXPECT_THAT(network_.bind_udp(a->local_endpoint()), fails_with(Code::already_exists));
  auto reader = coroutine::spawn("reader", [&]() -> Result<void> {
    auto batch = a->receive(Deadline::never());
    if (!batch) return batch.error();
    return {};
  });
  EXPECT_TRUE(coroutine::sleep_for(1ms));
  a->close();
  EXPECT_THAT(reader.join(Deadline::never()), fails_with(Code::unavailable));
  EXPECT_THAT(a->try_send(peer(*a), bytes_of("x")), fails_with(Code::unavailable));
  EXPECT_TRUE(network_.bind_udp(a->local_endpoint()));
  EXPECT_THAT(network_.bind_udp({.address = "name"}), fails_with(Code::invalid_argument));
}

}  // namespace
}  // namespace corolane::sim
