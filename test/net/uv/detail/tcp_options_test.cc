// SPDX-License-Identifier: MIT
// StreamOptions, read back from the sockets that they apply to.
#include "net/uv/detail/tcp_options.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "coroutine/testing/matchers.h"
#include "test/fixtures/real_loop.h"
#include "test/net/raw_socket.h"
#include "test/net/stream_pair.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;

void expect_options(const Stream& stream, const StreamOptions& options) {
  const int descriptor = descriptor_of(stream);
  const auto tcp = [&](int option) { return socket_option(descriptor, IPPROTO_TCP, option); };
  EXPECT_EQ(tcp(TCP_NODELAY), 1);
  EXPECT_EQ(tcp(TCP_NOTSENT_LOWAT), static_cast<int>(options.output_bytes_max));
  EXPECT_EQ(socket_option(descriptor, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(tcp(TCP_KEEPIDLE), options.keepalive_idle.count());
  EXPECT_EQ(tcp(TCP_KEEPINTVL), options.keepalive_interval.count());
  EXPECT_EQ(tcp(TCP_KEEPCNT), options.keepalive_count);
  const std::chrono::milliseconds patience =
      options.keepalive_idle + options.keepalive_count * options.keepalive_interval;
  EXPECT_EQ(tcp(TCP_USER_TIMEOUT), patience.count());
}

TEST(TcpOptionsTest, BothEndsGetTheirOptions) {
  run_on_real_loop([](RealLoop& real) {
    const StreamOptions client{.output_bytes_max = 50'000,
                               .keepalive_idle = 7s,
                               .keepalive_interval = 3s,
                               .keepalive_count = 5};
    const StreamOptions server{
        .keepalive_idle = 600s, .keepalive_interval = 75s, .keepalive_count = 9};
    auto pair = make_stream_pair(real.network, client, server);
    ASSERT_TRUE(pair) << pair;
    expect_options(*pair->client, client);
    expect_options(*pair->server, server);
  });
}

TEST(TcpOptionsTest, APeerThatVanishedIsFoundWithinAMinuteByDefault) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    expect_options(*pair->client, StreamOptions{});
    expect_options(*pair->server, StreamOptions{});
    EXPECT_EQ(socket_option(descriptor_of(*pair->server), IPPROTO_TCP, TCP_USER_TIMEOUT), 60'000);
  });
}

TEST(TcpOptionsTest, KeepaliveCanBeSwitchedOff) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {.keepalive_idle = 0s}, {.keepalive_idle = 0s});
    ASSERT_TRUE(pair) << pair;
    for (const Stream* stream : {pair->client.get(), pair->server.get()}) {
      EXPECT_EQ(socket_option(descriptor_of(*stream), SOL_SOCKET, SO_KEEPALIVE), 0);
      EXPECT_EQ(socket_option(descriptor_of(*stream), IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
    }
  });
}

TEST(TcpOptionsTest, AValueThatTheKernelRejectsIsAnError) {
  run_on_real_loop([](RealLoop& real) {
    const StreamOptions absurd{.keepalive_count = 1000};
    EXPECT_THAT(real.network.listen(loopback, {.stream = absurd}),
                fails_with(Code::invalid_argument));
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    EXPECT_THAT(real.network.connect((*listener)->local_endpoint(), soon(), absurd),
                fails_with(Code::invalid_argument));
  });
}

}  // namespace
}  // namespace corolane::net
