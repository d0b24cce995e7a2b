// SPDX-License-Identifier: MIT
// When a ReadSink is given nothing: while it is paused, while its replies pile up, and when it has
// used up its share of a turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/stream.h"
#include "net/testing/network.h"
#include "test/fixtures/real_loop.h"
#include "test/net/both_networks.h"
#include "test/net/raw_socket.h"
#include "test/net/stream_pair.h"
#include "test/net/test_sink.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::ElementsAre;
using testing::EndsWith;

TEST(ReadSinkPauseTest, APausedSinkIsGivenNothingUntilItResumes) {
  run_on_all([](Network& network, const auto& settle) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    pair->server->set_read_sink(sink);
    pair->server->pause_reading();
    EXPECT_TRUE(send_text(*pair->client, "later"));
    settle();
    EXPECT_EQ(sink.text, "");
    pair->server->resume_reading();
    EXPECT_EQ(sink.text, "");  // Never inside the call.
    sink.wait_for_text("later");
  });
}

TEST(ReadSinkPauseTest, TheSinkMayPauseItself) {
  run_on_all([](Network& network, const auto& settle) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    sink.when_bytes = [&](auto) { pair->server->pause_reading(); };
    pair->server->set_read_sink(sink);
    for (const char* text : {"one", "onetwo", "onetwothree"}) {
      const std::string_view news = std::string_view(text).substr(sink.text.size());
      EXPECT_TRUE(send_text(*pair->client, news));
      settle();
      pair->server->resume_reading();
      sink.wait_for_text(text);
    }
  });
}

TEST(ReadSinkPauseTest, EarlierInputWaitsForAPausedSinkToo) {
  run_on_all([](Network& network, const auto& settle) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(send_text(*pair->client, "before"));
    pair->client->finish_writing();
    settle();
    TestSink sink;
    pair->server->pause_reading();
    pair->server->set_read_sink(sink);
    settle();
    EXPECT_EQ(sink.text, "");
    EXPECT_THAT(sink.ends, ElementsAre());
    pair->server->resume_reading();
    sink.wait_for_end();
    EXPECT_EQ(sink.text, "before");
    EXPECT_THAT(sink.ends, ElementsAre(EndsWith("closed by peer")));
  });
}

TEST(ReadSinkPauseTest, APausedSinkHearsOfAnOrderlyEndOnceItResumes) {
  run_on_all([](Network& network, const auto& settle) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    pair->server->set_read_sink(sink);
    pair->server->pause_reading();
    pair->client->finish_writing();
    settle();
    EXPECT_THAT(sink.ends, ElementsAre());
    pair->server->resume_reading();
    sink.wait_for_end();
    EXPECT_THAT(sink.ends, ElementsAre(EndsWith("closed by peer")));
  });
}

TEST(ReadSinkPauseTest, APausedStreamMayBeClosedAndDestroyed) {
  run_on_all([](Network& network, const auto& settle) {
    auto pair = make_stream_pair(network);
    ASSERT_TRUE(pair) << pair;
    TestSink sink;
    pair->server->set_read_sink(sink);
    pair->server->pause_reading();
    EXPECT_TRUE(send_text(*pair->client, "unheard"));
    settle();
    pair->server->close();
    pair->server->resume_reading();
    pair->server->pause_reading();
    settle();
    pair->server.reset();
    EXPECT_EQ(sink.text, "");
    EXPECT_THAT(sink.ends, ElementsAre());
  });
}

TEST(ReadSinkPauseTest, APeerThatReadsNoRepliesIsNotReadAnyFurther) {
  run_on_both([](Network& network, const auto& settle) {
    constexpr std::size_t mark = 100'000;
    auto pair = make_stream_pair_at({.address = "127.0.0.1"}, network, {},
                                    {.output_bytes_max = mark, .output_while_reading_max = mark});
    ASSERT_TRUE(pair) << pair;
    TestSink echo;
    std::size_t refused_count = 0;
    echo.when_bytes = [&](auto bytes) {
      if (!pair->server->try_write(bytes)) ++refused_count;
    };
    pair->server->set_read_sink(echo);
    const std::string all = flood();
    auto writer = coroutine::spawn("writer", [&]() -> Result<void> {
      auto written = pair->client->write_all(bytes_of(all), soon());
      pair->client->finish_writing();
      return written;
    });
    for (int round = 0; round < 10; ++round) settle();
    EXPECT_LT(echo.text.size(), all.size());  // Otherwise it would have received everything.
    std::string back(all.size(), ' ');
    for (std::size_t count = 0; count < all.size();) {
      const auto more =
          pair->client->read_some(std::as_writable_bytes(std::span(back).subspan(count)), soon());
      ASSERT_TRUE(more) << more;
      ASSERT_GT(*more, 0u);
      count += *more;
    }
    EXPECT_EQ(back, all);
    EXPECT_EQ(refused_count, 0u);
    EXPECT_TRUE(writer.join(Deadline::never()));
    echo.wait_for_end();
  });
}

TEST(ReadSinkPauseTest, AClosedPeerIsDetectedAboveTheMark) {
  run_on_real_loop([](RealLoop& real) {
    auto listener = real.network.listen(
        loopback, {.stream = {.output_bytes_max = 1000, .output_while_reading_max = 1000}});
    ASSERT_TRUE(listener) << listener;
    RawSocket peer;
    peer.connect((*listener)->local_endpoint());
    auto stream = (*listener)->accept(soon());
    ASSERT_TRUE(stream) << stream;
    TestSink sink;
    (*stream)->set_read_sink(sink);
    EXPECT_TRUE((*stream)->try_write(bytes_of(flood())));
    see_arrivals(real.network);
    peer.reset();
    sink.wait_for_end();
    EXPECT_THAT(sink.ends, testing::SizeIs(1));
  });
}

TEST(ReadSinkPauseTest, AFloodedConnectionGetsOneShareOfATurn) {
  run_on_real_loop([](RealLoop& real) {
    const std::string all = flood();
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    std::size_t share_max = 0;
    std::size_t share = 0;
    TestSink greedy;
    greedy.when_bytes = [&](auto bytes) {
      share += bytes.size();
      share_max = std::max(share_max, share);
    };
    pair->server->set_read_sink(greedy);
    // A task that is always ready runs once in each turn.
    auto clock = coroutine::spawn("turns", [&] {
      while (greedy.text.size() < all.size()) {
        share = 0;
        EXPECT_TRUE(coroutine::yield());
      }
    });
    EXPECT_TRUE(send_text(*pair->client, all));
    EXPECT_TRUE(clock.join(Deadline::never()));
    EXPECT_LE(share_max, 64u * 1024);
  });
}

}  // namespace
}  // namespace corolane::net
