// SPDX-License-Identifier: MIT
// Streams in a task: read_some(), write_all(), and how they end.
#include "net/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "test/fixtures/real_loop.h"
#include "test/net/raw_pair.h"
#include "test/net/stream_pair.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::HasSubstr;

TEST(StreamTest, EchoesOverLoopback) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
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
    pair->client->close();
    EXPECT_TRUE(echo.join(soon()));
  });
}

TEST(StreamTest, BothEndsKnowBothEndpoints) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_EQ(pair->client->local_endpoint(), pair->server->peer_endpoint());
    EXPECT_EQ(pair->client->peer_endpoint(), pair->server->local_endpoint());
    EXPECT_EQ(pair->client->peer_endpoint().address, "127.0.0.1");
    EXPECT_NE(pair->client->peer_endpoint().port, 0);
  });
}

TEST(StreamTest, BothEndsCountTheirTraffic) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    ASSERT_TRUE(pair->client->try_write(bytes_of("seven 7")));
    EXPECT_EQ(pair->client->statistics().unsent_bytes, 7u);
    EXPECT_EQ(read_exactly(*pair->server, 7).value_or(""), "seven 7");
    const StreamStatistics client = pair->client->statistics();
    EXPECT_EQ(client.written_bytes, 7u);
    EXPECT_EQ(client.received_bytes, 0u);
    EXPECT_EQ(client.unsent_bytes, 0u);
    EXPECT_EQ(client.output_bytes_max, StreamOptions{}.output_bytes_max);
    EXPECT_FALSE(client.is_encrypted);
    const StreamStatistics server = pair->server->statistics();
    EXPECT_EQ(server.received_bytes, 7u);
    EXPECT_EQ(server.written_bytes, 0u);
    EXPECT_GE(server.heard_at, server.opened_at);
  });
}

TEST(StreamTest, AMillionBytesThroughSmallBuffersArriveInOrder) {
  run_on_real_loop([](RealLoop& real) {
    const StreamOptions small{.output_bytes_max = 5000};
    auto pair = make_stream_pair(real.network, small, small);
    ASSERT_TRUE(pair) << pair;
    const std::string text = numbered_text(1'000'000);
    auto writer = coroutine::spawn("writer", [&]() -> Result<void> {
      for (std::size_t at = 0; at < text.size(); at += 3001) {
        const auto piece = std::string_view(text).substr(at, 3001);
        if (auto written = pair->client->write_all(bytes_of(piece), soon()); !written) {
          return written;
        }
      }
      pair->client->finish_writing();
      return {};
    });
    std::string received;
    for (std::size_t round = 0; received.size() < text.size(); ++round) {
      auto part = read_text(*pair->server, soon(), 1 + round % 777);
      ASSERT_TRUE(part && !part->empty()) << part;
      received += *part;
      // Lets the other side get ahead at intervals, as far as it may.
      if (round % 50 == 0) static_cast<void>(coroutine::yield());
    }
    EXPECT_TRUE(writer.join(soon()));
    EXPECT_EQ(read_text(*pair->server).value_or("more"), "");
    EXPECT_TRUE(received == text);
  });
}

TEST(StreamTest, AMessageAboveTheHighWaterMarkArrivesWhole) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {.output_bytes_max = 1000});
    ASSERT_TRUE(pair) << pair;
    const std::string text = numbered_text(20'000'000);
    auto writer = coroutine::spawn("writer", [&] { return send_text(*pair->client, text); });
    EXPECT_TRUE(read_exactly(*pair->server, text.size()).value_or("") == text);
    EXPECT_TRUE(writer.join(soon()));
  });
}

TEST(StreamTest, BytesThatArriveWhileTheReaderIsBusyAreKept) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(send_text(*pair->client, "a"));
    EXPECT_EQ(read_text(*pair->server).value_or(""), "a");
    const std::string text = numbered_text(100'000);  // More than the stream reads ahead.
    EXPECT_TRUE(send_text(*pair->client, text));
    see_arrivals(real.network);
    EXPECT_EQ(read_text(*pair->server, Deadline::passed(), 2).value_or(""), text.substr(0, 2));
    EXPECT_EQ(read_exactly(*pair->server, text.size() - 2).value_or(""), text.substr(2));
  });
}

TEST(StreamTest, APeerThatFinishedSendingReadsAsEmptyAndStillReceives) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(pair->client->try_write(bytes_of("question")));
    pair->client->finish_writing();
    EXPECT_EQ(read_all(*pair->server).value_or(""), "question");
    EXPECT_EQ(read_text(*pair->server).value_or("more"), "");
    EXPECT_FALSE(pair->server->is_closed());
    EXPECT_TRUE(send_text(*pair->server, "answer"));
    pair->server->finish_writing();
    EXPECT_EQ(read_all(*pair->client).value_or(""), "answer");
  });
}

TEST(StreamTest, AnEndIsSentBehindOutputInFlight) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    const std::string text = flood();
    EXPECT_TRUE(pair->client->try_write(bytes_of(text)));
    see_arrivals(real.network);
    pair->client->finish_writing();
    EXPECT_TRUE(read_all(*pair->server).value_or("") == text);
  });
}

TEST(StreamTest, NothingIsWrittenAfterTheEnd) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    pair->client->finish_writing();
    EXPECT_THAT(pair->client->try_write(bytes_of("x")), fails_with(Code::failed_precondition));
    EXPECT_THAT(pair->client->write_all(bytes_of("x"), soon()),
                fails_with(Code::failed_precondition));
    EXPECT_EQ(read_all(*pair->server).value_or("x"), "");
    EXPECT_THAT(pair->client->try_write(bytes_of("x")), fails_with(Code::failed_precondition));
  });
}

TEST(StreamTest, WritingToADepartedPeerFails) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    pair->client.reset();
    Result<void> sent;
    while (sent) sent = send_text(*pair->server, "anybody?");
    EXPECT_THAT(sent, fails_with(Code::unavailable));
    EXPECT_TRUE(pair->server->is_closed());
    EXPECT_THAT(pair->server->try_write(bytes_of("x")), fails_with(Code::unavailable));
    EXPECT_THAT(read_text(*pair->server), fails_with(Code::unavailable));
  });
}

TEST(StreamTest, AResetEndsAWaitingReadAndSaysSo) {
  run_on_real_loop([](RealLoop& real) {
    RawPair pair;
    accept_raw(real.network, pair);
    auto reader = coroutine::spawn("reader", [&] { return read_text(*pair.stream); });
    EXPECT_TRUE(coroutine::yield());
    const std::string peer = to_string(pair.stream->peer_endpoint());
    pair.peer.reset();
    const auto text = reader.join(soon());
    ASSERT_THAT(text, fails_with(Code::unavailable));
    EXPECT_EQ(text.error().message(), "connection to " + peer + ": connection reset by peer");
    EXPECT_TRUE(pair.stream->is_closed());
    EXPECT_THAT(read_text(*pair.stream), fails_with(Code::unavailable));
    EXPECT_THAT(pair.stream->flush(soon()), fails_with(Code::unavailable));
  });
}

TEST(StreamTest, BytesThatArrivedBeforeAResetAreReadFirst) {
  run_on_real_loop([](RealLoop& real) {
    RawPair pair;
    accept_raw(real.network, pair);
    pair.peer.send("first");
    EXPECT_EQ(read_text(*pair.stream).value_or(""), "first");
    pair.peer.send("last words");
    see_arrivals(real.network);
    pair.peer.reset();
    see_arrivals(real.network);
    EXPECT_EQ(read_text(*pair.stream).value_or(""), "last words");
    EXPECT_THAT(read_text(*pair.stream), fails_with(Code::unavailable));
  });
}

TEST(StreamTest, AnAnswerIsReadAlthoughTheRequestWasCutOff) {
  run_on_real_loop([](RealLoop& real) {
    RawPair pair;
    accept_raw(real.network, pair);
    EXPECT_TRUE(send_text(*pair.stream, "a question that is never read"));
    pair.peer.send("no, thanks");
    {
      const RawSocket closed_with_bytes_unread(pair.peer.release());
    }
    Result<void> sent;
    while (sent) sent = send_text(*pair.stream, "and more of it");
    EXPECT_THAT(sent, fails_with(Code::unavailable));
    EXPECT_EQ(read_text(*pair.stream).value_or(""), "no, thanks");
    EXPECT_THAT(read_text(*pair.stream), fails_with(Code::unavailable));
  });
}

TEST(StreamTest, CloseEndsEveryWaitingCall) {
  run_on_real_loop([](RealLoop& real) {
    RawPair pair;
    accept_raw(real.network, pair, {.output_bytes_max = 1000});
    auto reader = coroutine::spawn("reader", [&] { return read_text(*pair.stream); });
    auto writer = coroutine::spawn(
        "writer", [&] { return pair.stream->write_all(bytes_of(flood()), soon()); });
    auto flusher = coroutine::spawn("flusher", [&] { return pair.stream->flush(soon()); });
    see_arrivals(real.network);
    EXPECT_FALSE(reader.is_done() || writer.is_done() || flusher.is_done());
    pair.stream->close();
    EXPECT_THAT(reader.join(soon()), fails_with(Code::unavailable));
    EXPECT_THAT(writer.join(soon()), fails_with(Code::unavailable));
    EXPECT_THAT(flusher.join(soon()), fails_with(Code::unavailable));
  });
}

TEST(StreamTest, AClosedStreamRefusesEverything) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(pair->client->try_write(bytes_of("dropped")));
    EXPECT_FALSE(pair->client->is_closed());
    pair->client->close();
    pair->client->close();
    EXPECT_TRUE(pair->client->is_closed());
    EXPECT_THAT(read_text(*pair->client), fails_with(Code::unavailable));
    EXPECT_THAT(pair->client->try_write(bytes_of("x")), fails_with(Code::unavailable));
    EXPECT_THAT(pair->client->write_all(bytes_of("x"), soon()), fails_with(Code::unavailable));
    EXPECT_THAT(pair->client->flush(soon()), fails_with(Code::unavailable));
    pair->client->finish_writing();
    EXPECT_EQ(read_all(*pair->server).value_or("x"), "");
  });
}

TEST(StreamTest, AReadEndsByItsDeadlineAndLosesNothing) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_THAT(read_text(*pair->server, Deadline::passed()), fails_with(Code::deadline_exceeded));
    const auto late = read_text(*pair->server, Deadline::after(1ms));
    ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
    EXPECT_THAT(late.error().message(),
                HasSubstr("connection to " + to_string(pair->server->peer_endpoint())));
    EXPECT_TRUE(send_text(*pair->client, "late"));
    EXPECT_EQ(read_text(*pair->server).value_or(""), "late");
  });
}

TEST(StreamTest, AReadEndsByCancellationAndLosesNothing) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    auto reader = coroutine::spawn("reader", [&] { return read_text(*pair->server); });
    EXPECT_TRUE(coroutine::yield());
    reader.cancel();
    EXPECT_THAT(reader.join(soon()), fails_with(Code::cancelled));
    EXPECT_TRUE(send_text(*pair->client, "late"));
    EXPECT_EQ(read_text(*pair->server).value_or(""), "late");
  });
}

TEST(StreamTest, BytesThatArriveAsAReadIsCancelledAreNotLost) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    std::string received;
    auto reader = coroutine::spawn("reader", [&]() -> Result<void> {
      auto text = read_text(*pair->server);
      if (!text) return text.error();
      received += *text;
      return {};
    });
    EXPECT_TRUE(coroutine::yield());
    EXPECT_TRUE(send_text(*pair->client, "just in time"));
    reader.cancel();
    const auto joined = reader.join(soon());
    if (!joined) received += read_text(*pair->server).value_or("");
    EXPECT_EQ(received, "just in time");
  });
}

TEST(StreamDeathTest, AStreamMustNotBeDestroyedBeneathAWaitingTask) {
  const auto destroy_beneath_a_reader = [](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    auto reader = coroutine::spawn("reader", [&] { return read_text(*pair->server); });
    static_cast<void>(coroutine::yield());
    pair->server.reset();
  };
  EXPECT_DEATH(run_on_real_loop(destroy_beneath_a_reader), "no task is inside a call");
}

}  // namespace
}  // namespace corolane::net
