// SPDX-License-Identifier: MIT
// The network of a recorded node, over the real one; a replayed node sees the same without a
// network.
#include "framework/recording/detail/inbox_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/crypto.h"
#include "test/framework/recording/two_lives.h"
#include "test/net/stream_pair.h"
#include "test/net/test_sink.h"

namespace corolane::framework::recording {
namespace {

using namespace std::chrono_literals;
using net::loopback;
using net::make_stream_pair;
using net::Network;
using net::read_exactly;
using net::read_text;
using net::send_text;
using net::TestSink;
using test::fails_with;
using test::soon;
using testing::HasSubstr;

TEST(InboxNetworkTest, EchoesOverLoopback) {
  live_twice([](Network& network, Inbox&) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    auto echo = coroutine::spawn("echo", [&]() -> Result<void> {
      for (;;) {
        auto text = read_text(*pair->server);
        if (!text) return text.error();
        if (text->empty()) return {};
        if (auto sent = send_text(*pair->server, *text); !sent) return sent;
      }
    });
    for (const char* text : {"one", "two", "three"}) {
      EXPECT_TRUE(send_text(*pair->client, text));
      EXPECT_EQ(read_exactly(*pair->client, std::string_view(text).size()).value_or(""), text);
    }
    EXPECT_EQ(pair->client->local_endpoint(), pair->server->peer_endpoint());
    pair->client->close();
    EXPECT_TRUE(echo.join(soon()));
  });
}

TEST(InboxNetworkTest, ManyBytesArriveInOrderWithBackpressure) {
  live_twice([](Network& network, Inbox&) {
    const net::StreamOptions small{.output_bytes_max = 5'000};
    auto pair = make_stream_pair(network, small, small);
    ASSERT_TRUE(pair) << pair;
    const std::string text = net::numbered_text(3'000'000);
    auto writer = coroutine::spawn("writer", [&]() -> Result<void> {
      for (std::size_t at = 0; at < text.size(); at += 30'000) {
        if (auto sent = send_text(*pair->client, text.substr(at, 30'000)); !sent) return sent;
      }
      pair->client->finish_writing();
      return {};
    });
    EXPECT_TRUE(read_exactly(*pair->server, text.size()).value_or("") == text);
    EXPECT_EQ(read_text(*pair->server).value_or("?"), "") << "its end";
    EXPECT_TRUE(writer.join(soon()));
  });
}

TEST(InboxNetworkTest, AWriterIsRefusedWhileThePeerDoesNotRead) {
  live_twice([](Network& network, Inbox&) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    const std::string text = net::flood();
    EXPECT_TRUE(pair->client->try_write(net::bytes_of(text)));
    EXPECT_THAT(pair->client->try_write(net::bytes_of("x")), fails_with(Code::resource_exhausted));
    EXPECT_THAT(pair->client->flush(Deadline::after(10ms)), fails_with(Code::deadline_exceeded));
    EXPECT_EQ(read_exactly(*pair->server, text.size()).value_or("").size(), text.size());
    EXPECT_TRUE(pair->client->flush(soon()));
    EXPECT_TRUE(pair->client->try_write(net::bytes_of("x")));
  });
}

// An HTTP server does this after it has answered a client that has finished sending.
TEST(InboxNetworkTest, BytesOfAnEarlierTurnAreSentBeforeTheStreamCloses) {
  live_twice([](Network& network, Inbox&) {
    for (int i = 0; i < 20; ++i) {
      auto pair = make_stream_pair(network);
      ASSERT_TRUE(pair) << pair;
      pair->client->finish_writing();
      ASSERT_EQ(read_text(*pair->server).value_or("?"), "");
      ASSERT_TRUE(pair->server->try_write(net::bytes_of("the answer")));
      // Two turns of the loop: one hands the text over, the next one closes the stream. A shorter
      // sleep might end within its turn.
      ASSERT_TRUE(coroutine::sleep_for(1ms));
      pair->server->close();
      EXPECT_EQ(read_exactly(*pair->client, 10).value_or("?"), "the answer");
    }
  });
}

TEST(InboxNetworkTest, BytesOfAClosedPeerAreStillRead) {
  live_twice([](Network& network, Inbox&) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    const std::string text = net::numbered_text(100'000);
    ASSERT_TRUE(send_text(*pair->server, text));
    ASSERT_TRUE(pair->server->flush(soon()));
    pair->server->close();
    while (pair->client->try_write(net::bytes_of("more"))) {
      ASSERT_TRUE(coroutine::sleep_for(1ms));
    }
    EXPECT_TRUE(read_exactly(*pair->client, text.size()).value_or("") == text);
  });
}

TEST(InboxNetworkTest, ASinkGetsBytesAndTheEndAndNothingWhilePaused) {
  live_twice([](Network& network, Inbox&) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    pair->server->set_read_sink(sink);
    ASSERT_TRUE(send_text(*pair->client, "one"));
    sink.wait_for_text("one");
    pair->server->pause_reading();
    ASSERT_TRUE(send_text(*pair->client, " two"));
    ASSERT_TRUE(coroutine::sleep_for(5ms));
    EXPECT_EQ(sink.text, "one");
    pair->server->resume_reading();
    sink.wait_for_text("one two");
    pair->server->pause_reading();
    pair->client->finish_writing();
    ASSERT_TRUE(coroutine::sleep_for(5ms));
    EXPECT_TRUE(sink.ends.empty()) << "a paused sink does not read the end";
    pair->server->resume_reading();
    sink.wait_for_end();
    EXPECT_THAT(sink.ends.at(0), HasSubstr("closed by peer"));
    EXPECT_FALSE(pair->server->is_closed());
  });
}

TEST(InboxNetworkTest, ABrokenConnectionFailsReadersAndWriters) {
  live_twice([](Network& network, Inbox&) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    // The kernel resets a connection that is closed with unread bytes.
    ASSERT_TRUE(send_text(*pair->client, "unread"));
    ASSERT_TRUE(pair->client->flush(soon()));
    pair->server->close();
    auto text = read_text(*pair->client);
    while (text && !text->empty()) text = read_text(*pair->client);
    while (!pair->client->is_closed()) {
      static_cast<void>(pair->client->try_write(net::bytes_of("more")));
      ASSERT_TRUE(coroutine::sleep_for(1ms));
    }
    EXPECT_THAT(pair->client->flush(soon()), fails_with(Code::unavailable));
  });
}

TEST(InboxNetworkTest, AnUnreachableEndpointIsRefused) {
  live_twice([](Network& network, Inbox&) {
    net::Endpoint closed;
    {
      auto listener = network.listen(loopback);
      ASSERT_TRUE(listener) << listener;
      closed = (*listener)->local_endpoint();
      EXPECT_THAT(network.listen(closed), fails_with(Code::already_exists));
    }
    EXPECT_TRUE(network.listen(closed)) << "the first listener is gone";
    EXPECT_THAT(network.connect(closed, soon()), fails_with(Code::unavailable));
    const auto found = network.resolve({.host = "localhost", .port = 7}, soon());
    ASSERT_TRUE(found) << found.error();
    EXPECT_EQ(found->at(0).port, 7);
    EXPECT_THAT(network.bind_udp(loopback), fails_with(Code::unimplemented));
  });
}

TEST(InboxNetworkTest, WaitsEndAtTheirDeadlineAndOnCancellation) {
  live_twice([](Network& network, Inbox&) {
    auto listener = network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    EXPECT_THAT((*listener)->accept(Deadline::after(2ms)), fails_with(Code::deadline_exceeded));
    auto accepting = coroutine::spawn(
        "accept", [&] { return (*listener)->accept(Deadline::never()).error().code(); });
    ASSERT_TRUE(coroutine::sleep_for(1ms));
    (*listener)->close();
    EXPECT_EQ(accepting.join(Deadline::never()), Code::unavailable);
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_THAT(read_text(*pair->client, Deadline::after(2ms)),
                fails_with(Code::deadline_exceeded));
    auto reading = coroutine::spawn("read", [&] { return read_text(*pair->client); });
    ASSERT_TRUE(coroutine::sleep_for(1ms));
    reading.cancel();
    EXPECT_THAT(reading.join(Deadline::never()), fails_with(Code::cancelled));
  });
}

TEST(InboxNetworkTest, AConnectionThatComesTooLateIsClosed) {
  live_twice([](Network& network, Inbox&) {
    auto listener = network.listen(loopback);
    ASSERT_TRUE(listener) << listener;
    EXPECT_FALSE(network.connect((*listener)->local_endpoint(), Deadline::passed()));
    EXPECT_TRUE(network.connect((*listener)->local_endpoint(), soon()));
  });
}

struct Read {
  TimePoint steady;
  TimePoint boot;
  std::chrono::sys_time<Duration> of_day;
  pid_t process;
  std::uint64_t chance;

  friend bool operator==(const Read&, const Read&) = default;
};

TEST(InboxTest, ClocksAndRandomnessAreThoseOfTheRecording) {
  const test::TemporaryFolder folder;
  std::vector<Read> read;
  const Body body = [&](Network&, Inbox&) {
    for (int i = 0; i < 3; ++i) {
      Read some{.steady = now(),
                .boot = boot_time(),
                .of_day = time_of_day(),
                .process = process_id(),
                .chance = 0};
      net::fill_with_random_bytes(std::as_writable_bytes(std::span(&some.chance, 1)));
      read.push_back(some);
      ASSERT_TRUE(coroutine::sleep_for(2ms));
    }
  };
  record(folder.path() / "recording", body);
  const std::vector<Read> recorded = std::exchange(read, {});
  EXPECT_GE(recorded.at(1).steady - recorded.at(0).steady, 2ms);
  EXPECT_NE(recorded.at(0).chance, recorded.at(1).chance);
  replay(folder.path() / "recording", body);
  EXPECT_EQ(read, recorded);
}

TEST(InboxTest, ADivergentReplayIsDetected) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "recording";
  const auto says = [](const char* text) {
    return [text](Network& network, Inbox&) {
      auto pair = make_stream_pair(network);
      ASSERT_TRUE(pair) << pair;
      ASSERT_TRUE(send_text(*pair->client, text));
      ASSERT_TRUE(read_text(*pair->server));
    };
  };
  record(path, says("white"));
  replay(path, says("white"));
  EXPECT_DEATH(replay(path, says("black")), "asks for something else in it than it did");
  EXPECT_DEATH(replay(path, [](Network&, Inbox&) { static_cast<void>(time_of_day()); }),
               "the node wants the time of day, where it wanted to listen");
  EXPECT_DEATH(replay(path, [](Network&, Inbox&) {}), "where it wanted to listen");
}

TEST(InboxTest, APostOfAnotherThreadEndsTheRecordingWithTheReason) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "recording";
  record(path, [](Network&, Inbox&) {
    coroutine::Event done("another thread");
    std::thread other([&done, &scheduler = coroutine::Scheduler::current()] {
      scheduler.post([&done] { done.set(); });
    });
    ASSERT_TRUE(done.wait(soon()));
    other.join();
    ASSERT_TRUE(coroutine::sleep_for(1ms));
  });
  auto reader = RecordingReader::open(path);
  ASSERT_TRUE(reader) << reader.error();
  std::optional<Entry> last;
  for (auto entry = (*reader)->next(); entry && *entry; entry = (*reader)->next()) last = **entry;
  ASSERT_TRUE(last);
  EXPECT_THAT(last->end().reason(), HasSubstr("another thread"));
}

}  // namespace
}  // namespace corolane::framework::recording
