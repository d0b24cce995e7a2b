// SPDX-License-Identifier: MIT
#include "net/uv/uv_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
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
using testing::Contains;
using testing::ElementsAre;
using testing::StartsWith;

// While it exists, the process gets no new descriptor.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next);
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(UvNetworkTest, PortZeroYieldsAFreePort) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    EXPECT_EQ((*listener)->local_endpoint().address, "127.0.0.1");
    EXPECT_NE((*listener)->local_endpoint().port, 0);
  });
}

TEST(UvNetworkTest, AnAddressInUseIsRefused) {
  run_on_real_loop([](RealLoop& real) {
    auto first = real.network.listen(loopback);
    ASSERT_TRUE(first) << first;
    const Endpoint taken = (*first)->local_endpoint();
    const auto second = real.network.listen(taken);
    ASSERT_THAT(second, fails_with(Code::already_exists));
    EXPECT_EQ(second.error().message(),
              "listen on " + to_string(taken) + ": address already in use");
    first->reset();
    EXPECT_TRUE(real.network.listen(taken)) << "free again at once";
  });
}

TEST(UvNetworkTest, OnlyNumericAddressesOfThisMachineAreListenedOn) {
  run_on_real_loop([](RealLoop& real) {
    EXPECT_THAT(real.network.listen({.address = "localhost"}), fails_with(Code::invalid_argument));
    EXPECT_THAT(real.network.listen({.address = "192.0.2.1"}), fails_with(Code::invalid_argument));
    EXPECT_THAT(real.network.connect({.address = "localhost", .port = 1}, soon()),
                fails_with(Code::invalid_argument));
  });
}

TEST(UvNetworkTest, IPv6Works) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen({.address = "::1"});
    if (!listener) GTEST_SKIP() << "no IPv6 here: " << listener;
    auto client = real.network.connect((*listener)->local_endpoint(), soon());
    ASSERT_TRUE(client) << client;
    auto server = (*listener)->accept(soon());
    ASSERT_TRUE(server) << server;
    EXPECT_THAT(to_string((*server)->peer_endpoint()), StartsWith("[::1]:"));
    EXPECT_EQ((*server)->peer_endpoint(), (*client)->local_endpoint());
  });
}

TEST(UvNetworkTest, AcceptWaitsForAPeer) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    auto acceptor = coroutine::spawn("acceptor", [&] { return (*listener)->accept(soon()); });
    EXPECT_TRUE(coroutine::yield());
    auto client = real.network.connect((*listener)->local_endpoint(), soon());
    ASSERT_TRUE(client) << client;
    EXPECT_TRUE(acceptor.join(soon()));
  });
}

TEST(UvNetworkTest, ManyPeersAtOnceAreAcceptedBySeveralTasks) {
  run_on_real_loop([](RealLoop& real) {
    constexpr std::size_t peer_count = 200;
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    std::vector<std::unique_ptr<Stream>> accepted;
    coroutine::TaskGroup acceptors;
    for (int number = 0; number < 3; ++number) {
      EXPECT_TRUE(acceptors.spawn("acceptor", [&]() -> Result<void> {
        for (;;) {
          auto stream = (*listener)->accept(soon());
          if (!stream) return {};
          accepted.push_back(std::move(*stream));
          if (accepted.size() == peer_count) (*listener)->close();
        }
      }));
    }
    std::vector<std::unique_ptr<Stream>> clients;
    while (clients.size() < peer_count) {
      auto client = real.network.connect((*listener)->local_endpoint(), soon());
      ASSERT_TRUE(client) << client;
      clients.push_back(std::move(*client));
    }
    EXPECT_TRUE(acceptors.join(soon()));
    EXPECT_EQ(accepted.size(), peer_count);
  });
}

TEST(UvNetworkTest, PeersWaitInTheBacklogWhileNoTaskAccepts) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    // The socket is still watched after the last accept() has ended: the loop must not spin for it.
    EXPECT_THAT((*listener)->accept(Deadline::after(1ms)), fails_with(Code::deadline_exceeded));
    for (int round = 0; round < 3; ++round) {
      auto client = real.network.connect((*listener)->local_endpoint(), soon());
      ASSERT_TRUE(client) << client;
      see_arrivals(real.network);
      auto server = (*listener)->accept(Deadline::passed());
      ASSERT_TRUE(server) << server;
      EXPECT_EQ((*server)->peer_endpoint(), (*client)->local_endpoint());
    }
  });
}

TEST(UvNetworkTest, AcceptEndsByDeadlineCancellationAndClose) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    EXPECT_THAT((*listener)->accept(Deadline::passed()), fails_with(Code::deadline_exceeded));
    EXPECT_THAT((*listener)->accept(Deadline::after(1ms)), fails_with(Code::deadline_exceeded));
    auto acceptor = coroutine::spawn("acceptor", [&] { return (*listener)->accept(soon()); });
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    acceptor.cancel();
    EXPECT_THAT(acceptor.join(soon()), fails_with(Code::cancelled));
    acceptor = coroutine::spawn("acceptor", [&] { return (*listener)->accept(soon()); });
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    (*listener)->close();
    (*listener)->close();
    EXPECT_THAT(acceptor.join(soon()), fails_with(Code::unavailable));
    EXPECT_THAT((*listener)->accept(soon()), fails_with(Code::unavailable));
  });
}

TEST(UvNetworkTest, AcceptFailsWithoutDescriptorsAndWorksAgainAfterwards) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    auto client = real.network.connect((*listener)->local_endpoint(), soon());
    ASSERT_TRUE(client) << client;
    {
      const NoDescriptors none;
      EXPECT_THAT((*listener)->accept(soon()), fails_with(Code::resource_exhausted));
      EXPECT_THAT(real.network.connect((*listener)->local_endpoint(), soon()),
                  fails_with(Code::resource_exhausted));
      EXPECT_THAT(real.network.listen(loopback), fails_with(Code::resource_exhausted));
    }
    auto server = (*listener)->accept(soon());
    ASSERT_TRUE(server) << server;
    EXPECT_EQ((*server)->peer_endpoint(), (*client)->local_endpoint());
  });
}

TEST(UvNetworkTest, AcceptedStreamsOutliveTheirListener) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(send_text(*pair->client, "still here"));
    EXPECT_EQ(read_text(*pair->server).value_or(""), "still here");
  });
}

TEST(UvNetworkTest, ARefusedConnectionNamesThePeer) {
  run_on_real_loop([](RealLoop& real) {
    RawSocket nobody;
    const Endpoint endpoint = nobody.bind();
    const auto stream = real.network.connect(endpoint, soon());
    ASSERT_THAT(stream, fails_with(Code::unavailable));
    EXPECT_EQ(stream.error().message(),
              "connect to " + to_string(endpoint) + ": connection refused");
  });
}

TEST(UvNetworkTest, ConnectEndsByDeadlineAndCancellation) {
  run_on_real_loop([](RealLoop& real) {
    const SilentPeer peer;
    EXPECT_THAT(real.network.connect(peer.endpoint, Deadline::passed()),
                fails_with(Code::deadline_exceeded));
    EXPECT_THAT(real.network.connect(peer.endpoint, Deadline::after(1ms)),
                fails_with(Code::deadline_exceeded));
    auto connector =
        coroutine::spawn("connector", [&] { return real.network.connect(peer.endpoint, soon()); });
    EXPECT_TRUE(coroutine::yield());
    connector.cancel();
    EXPECT_THAT(connector.join(soon()), fails_with(Code::cancelled));
    EXPECT_EQ(real.loop.open_handle_count(), 0u);
  });
}

TEST(UvNetworkTest, NumericHostsResolveToThemselves) {
  run_on_real_loop([](RealLoop& real) {
    const auto v4 = real.network.resolve({.host = "192.0.2.7", .port = 80}, Deadline::passed());
    ASSERT_TRUE(v4) << v4;
    EXPECT_THAT(*v4, ElementsAre(Endpoint{.address = "192.0.2.7", .port = 80}));
    const auto v6 = real.network.resolve({.host = "2001:db8::7", .port = 80}, Deadline::passed());
    ASSERT_TRUE(v6) << v6;
    EXPECT_THAT(*v6, ElementsAre(Endpoint{.address = "2001:db8::7", .port = 80}));
  });
}

TEST(UvNetworkTest, LocalhostResolvesToLoopback) {
  run_on_real_loop([](RealLoop& real) {
    const auto found = real.network.resolve({.host = "localhost", .port = 8460}, soon());
    ASSERT_TRUE(found) << found;
    EXPECT_THAT(*found, Contains(testing::AnyOf(Endpoint{.address = "127.0.0.1", .port = 8460},
                                                Endpoint{.address = "::1", .port = 8460})));
  });
}

TEST(UvNetworkTest, AnUnknownHostIsNotFound) {
  run_on_real_loop([](RealLoop& real) {
    // Malformed, so that no name server is queried.
    const auto found = real.network.resolve({.host = "two..dots", .port = 80}, soon());
    ASSERT_THAT(found, fails_with(Code::not_found));
    EXPECT_THAT(found.error().message(), StartsWith("resolve two..dots: "));
  });
}

TEST(UvNetworkTest, AnAbandonedLookUpLeavesNothingBehind) {
  run_on_real_loop([](RealLoop& real) {
    EXPECT_THAT(real.network.resolve({.host = "localhost", .port = 1}, Deadline::passed()),
                fails_with(Code::deadline_exceeded));
    for (int round = 0; round < 20; ++round) {
      auto look_up = coroutine::spawn("look-up", [&] {
        return real.network.resolve({.host = "localhost", .port = 1}, soon());
      });
      EXPECT_TRUE(coroutine::yield());
      look_up.cancel();
      // The turn may have ended meanwhile, and the answer have arrived.
      const auto found = look_up.join(soon());
      if (!found) {
        EXPECT_THAT(found, fails_with(Code::cancelled));
      }
    }
    EXPECT_EQ(real.loop.open_handle_count(), 0u);
  });
}

}  // namespace
}  // namespace corolane::net
