// SPDX-License-Identifier: MIT
// The network between simulated hosts delivers bytes in order, and breaks on request.
#include "framework/testing/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/wait_queue.h"
#include "framework/testing/host.h"
#include "framework/testing/simulation.h"
#include "test/net/test_sink.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

constexpr std::uint16_t port = 7;

class FabricTest : public testing::Test {
 protected:
  FabricTest() {
    static_cast<void>(fabric_.network_of(client_));
    static_cast<void>(fabric_.network_of(server_));
  }

  // Echoes all bytes until its host dies.
  void serve() {
    server_.start([this] {
      auto listener = fabric_.network_of(server_).listen({Fabric::address_of(server_), port});
      ASSERT_TRUE(listener) << listener.error();
      while (auto stream = (*listener)->accept(Deadline::never())) {
        server_.spawn("echo", [held = std::shared_ptr<net::Stream>(std::move(*stream))] {
          std::array<std::byte, 100> bytes{};
          for (;;) {
            const auto count = held->read_some(bytes, Deadline::never());
            if (!count || *count == 0) return;
            if (!held->write_all(std::span(bytes).first(*count), Deadline::never())) return;
          }
        });
      }
    });
  }
  // Runs a client to its end.
  void run(const std::function<void(net::Network& network)>& client) {
    client_.start([this, &client] { client(fabric_.network_of(client_)); });
    const TimePoint last = simulation_.now() + 10min;
    EXPECT_TRUE(simulation_.run_until([this] { return !client_.is_alive(); }, last));
  }
  Result<std::unique_ptr<net::Stream>> connect(net::Network& network, Duration at_most = 5s) {
    return network.connect({Fabric::address_of(server_), port}, Deadline::after(at_most));
  }
  // Sends a text and returns its echo.
  static Result<std::string> echo(net::Stream& stream, std::string_view text) {
    if (auto sent = stream.write_all(net::bytes_of(text), Deadline::never()); !sent) {
      return sent.error();
    }
    std::string got;
    while (got.size() < text.size()) {
      std::array<std::byte, 100> bytes{};
      const auto count = stream.read_some(bytes, Deadline::after(1min));
      if (!count) return count.error();
      if (*count == 0) return Error(Code::unavailable, "the stream has ended");
      got.append(reinterpret_cast<const char*>(bytes.data()), *count);
    }
    return got;
  }

  Simulation simulation_{{.seed = 3}};
  Fabric fabric_{simulation_, {.latency_min = 1ms, .latency_max = 5ms}};
  Host& client_ = simulation_.add_host("client");
  Host& server_ = simulation_.add_host("server");
};

TEST_F(FabricTest, BytesArriveInOrderAfterAWhile) {
  serve();
  run([this](net::Network& network) {
    const auto stream = connect(network);
    ASSERT_TRUE(stream) << stream.error();
    for (int i = 0; i < 100; ++i) {
      const TimePoint start = now();
      const std::string text = "message " + std::to_string(i);
      EXPECT_EQ(echo(**stream, text).value_or("?"), text);
      EXPECT_GE(now() - start, 2ms);
    }
  });
}

TEST_F(FabricTest, ATaskReadsWhatASinkGaveBack) {
  serve();
  run([this](net::Network& network) {
    const auto stream = connect(network);
    ASSERT_TRUE(stream) << stream.error();
    net::TestSink sink;
    sink.when_bytes = [&](auto bytes) { (*stream)->release_read_sink(bytes); };
    (*stream)->set_read_sink(sink);
    EXPECT_TRUE((*stream)->try_write(net::bytes_of("one ")));
    while (sink.text.empty()) ASSERT_TRUE(sink.heard.wait(Deadline::after(1min)));
    EXPECT_EQ(echo(**stream, "and two").value_or("?"), "one and two");
  });
}

TEST_F(FabricTest, AConnectionToAPortWithoutAListenerIsRefused) {
  serve();
  run([this](net::Network& network) {
    EXPECT_THAT(network.connect({Fabric::address_of(server_), 8}, Deadline::after(1s)),
                fails_with(Code::unavailable));
  });
}

TEST_F(FabricTest, ThreadsOfAProcessShareItsPortAndItsFate) {
  std::map<std::size_t, int> accepted;
  net::Listener* last_listener = nullptr;
  const auto listen = [&](Host& thread) {
    auto listener = fabric_.network_of(thread).listen({Fabric::address_of(thread), port},
                                                      {.shares_port = true});
    ASSERT_TRUE(listener) << listener.error();
    last_listener = listener->get();
    std::vector<std::unique_ptr<net::Stream>> streams;
    while (auto stream = (*listener)->accept(Deadline::never())) {
      streams.push_back(*std::move(stream));
      ++accepted[thread.index()];
    }
  };
  Host& thread = server_.thread(1);
  EXPECT_EQ(Fabric::address_of(thread), Fabric::address_of(server_));
  server_.start([&] {
    coroutine::WaitQueue ended("the end of a thread");
    server_.spawn("first thread", [&] { listen(server_); });
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    static_cast<void>(fabric_.network_of(thread));
    thread.start([&] { listen(thread); }, [&] { server_.post([&] { ended.notify_all(); }); });
    EXPECT_FALSE(coroutine::sleep_for(1h)) << "it is killed";
    thread.post([&] { last_listener->close(); });
    ended.wait(Deadline::never(), coroutine::Cancellation::ignore);
    server_.end_tasks();
  });
  run([&](net::Network& network) {
    std::vector<std::unique_ptr<net::Stream>> streams;
    for (int i = 0; i < 20; ++i) {
      auto stream = connect(network);
      ASSERT_TRUE(stream) << stream.error();
      streams.push_back(*std::move(stream));
    }
    simulation_.at(simulation_.now(), [this] { server_.kill(); });
    for (const auto& stream : streams) {
      std::array<std::byte, 1> byte{};
      EXPECT_FALSE(stream->read_some(byte, Deadline::after(1min)));
      EXPECT_TRUE(stream->is_closed());
    }
    EXPECT_FALSE(connect(network));
  });
  EXPECT_EQ(accepted[server_.index()] + accepted[thread.index()], 20);
  EXPECT_GT(accepted[server_.index()], 0);
  EXPECT_GT(accepted[thread.index()], 0);
}

TEST_F(FabricTest, BytesBehindACutWaitForItsRepair) {
  serve();
  run([this](net::Network& network) {
    const auto stream = connect(network);
    ASSERT_TRUE(stream) << stream.error();
    fabric_.cut(server_, client_);
    simulation_.at(simulation_.now() + 10s, [this] { fabric_.mend(server_, client_); });
    const TimePoint start = now();
    EXPECT_EQ(echo(**stream, "late").value_or("?"), "late");
    EXPECT_GE(now() - start, 10s);
  });
}

TEST_F(FabricTest, PeersOfAKilledProcessSeeTheirConnectionsBreak) {
  serve();
  simulation_.at(simulation_.now() + 1s, [this] { server_.kill(); });
  run([this](net::Network& network) {
    const auto stream = connect(network);
    ASSERT_TRUE(stream) << stream.error();
    std::array<std::byte, 1> bytes{};
    const TimePoint start = now();
    EXPECT_THAT((*stream)->read_some(bytes, Deadline::after(1min)), fails_with(Code::unavailable));
    EXPECT_LT(now() - start, 2s);
    EXPECT_THAT(connect(network), fails_with(Code::unavailable));
  });
}

TEST_F(FabricTest, PeersOfASwitchedOffMachineOnlySeeTheirDeadlinesPass) {
  serve();
  simulation_.at(simulation_.now() + 1s, [this] {
    fabric_.switch_off(server_);
    server_.kill();
  });
  run([this](net::Network& network) {
    const auto stream = connect(network);
    ASSERT_TRUE(stream) << stream.error();
    std::array<std::byte, 1> bytes{};
    EXPECT_THAT((*stream)->read_some(bytes, Deadline::after(1min)),
                fails_with(Code::deadline_exceeded));
    EXPECT_THAT(connect(network), fails_with(Code::deadline_exceeded));
  });
}

TEST_F(FabricTest, AConnectionThatBreaksIsLostToBoth) {
  serve();
  run([this](net::Network& network) {
    const auto stream = connect(network);
    ASSERT_TRUE(stream) << stream.error();
    EXPECT_TRUE(echo(**stream, "whole"));
    fabric_.reset_one(client_, server_);
    EXPECT_TRUE(coroutine::sleep_for(1s));
    EXPECT_TRUE((*stream)->is_closed());
    EXPECT_TRUE(connect(network));
  });
}

TEST_F(FabricTest, ASlowPeerBlocksTheWriter) {
  serve();
  run([this](net::Network& network) {
    const auto stream = connect(network);
    ASSERT_TRUE(stream) << stream.error();
    const std::string much(1'000'000, 'x');
    // The client does not read the echo, so the server stops reading at last.
    EXPECT_THAT((*stream)->write_all(net::bytes_of(much), Deadline::after(1s)),
                fails_with(Code::deadline_exceeded));
    EXPECT_THAT((*stream)->try_write(net::bytes_of("x")), fails_with(Code::resource_exhausted));
  });
}

}  // namespace
}  // namespace corolane::sim
