// SPDX-License-Identifier: MIT
// How a stream handles output that its peer does not take at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "test/fixtures/real_loop.h"
#include "test/net/raw_pair.h"
#include "test/net/stepped_loop.h"
#include "test/net/stream_pair.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::RealLoop;
using test::run_on_real_loop;
using test::soon;
using testing::HasSubstr;

TEST(StreamOutputTest, OutputOfOneTurnLeavesInOneWrite) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    for (const char* word : {"many ", "small ", "messages"}) {
      EXPECT_TRUE(pair->client->try_write(bytes_of(word)));
    }
    EXPECT_EQ(read_text(*pair->server).value_or(""), "many small messages");
  });
}

// Fills the room as a caller that builds its bytes in place does.
void put(std::span<std::byte> room, std::string_view text) {
  ASSERT_EQ(room.size(), text.size());
  std::ranges::copy(bytes_of(text), room.begin());
}

TEST(StreamOutputTest, BytesBuiltInTheRoomLeaveInOrderWithTheRest) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    Stream& client = *pair->client;
    std::string expected;
    for (int round = 0; round < 2'000; ++round) {
      const std::string made = "made " + std::to_string(round) + ", ";
      const std::string copied = "copied " + std::to_string(round) + ", ";
      const auto room = client.room_to_write(made.size());
      put(room, made);
      EXPECT_TRUE(round % 2 == 0 ? client.try_write(room) : client.write_all(room, soon()));
      EXPECT_TRUE(client.try_write(bytes_of(copied)));
      expected += made + copied;
    }
    EXPECT_EQ(read_exactly(*pair->server, expected.size()).value_or(""), expected);
  });
}

TEST(StreamOutputTest, AClosedStreamStillProvidesRoom) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    pair->client->close();
    const auto room = pair->client->room_to_write(100'000);
    put(room, std::string(100'000, 'x'));
    EXPECT_THAT(pair->client->try_write(room), fails_with(Code::unavailable));
  });
}

TEST(StreamOutputTest, WritersAboveTheHighWaterMarkWaitUntilThePeerReads) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {.output_bytes_max = 1000});
    ASSERT_TRUE(pair) << pair;
    const std::string piece = numbered_text(10'000'000);
    auto first =
        coroutine::spawn("first", [&] { return pair->client->write_all(bytes_of(piece), soon()); });
    auto second = coroutine::spawn(
        "second", [&] { return pair->client->write_all(bytes_of(piece), soon()); });
    see_arrivals(real.network);
    EXPECT_FALSE(first.is_done());
    EXPECT_FALSE(second.is_done());
    EXPECT_TRUE(read_exactly(*pair->server, piece.size() * 2).value_or("") == piece + piece);
    EXPECT_TRUE(first.join(soon()));
    EXPECT_TRUE(second.join(soon()));
  });
}

TEST(StreamOutputTest, AWriteAboveTheMarkEndsByDeadlineOrCancellationWithItsBytesQueued) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {.output_bytes_max = 1000});
    ASSERT_TRUE(pair) << pair;
    const std::string piece = numbered_text(10'000'000);
    EXPECT_THAT(pair->client->write_all(bytes_of(piece), Deadline::after(1ms)),
                fails_with(Code::deadline_exceeded));
    auto writer =
        coroutine::spawn("writer", [&] { return pair->client->write_all(bytes_of("!"), soon()); });
    EXPECT_TRUE(coroutine::yield());
    writer.cancel();
    EXPECT_THAT(writer.join(soon()), fails_with(Code::cancelled));
    EXPECT_THAT(pair->client->flush(Deadline::after(1ms)), fails_with(Code::deadline_exceeded));
    EXPECT_TRUE(read_exactly(*pair->server, piece.size() + 1).value_or("") == piece + "!");
  });
}

TEST(StreamOutputTest, PushWritersAreRefusedAboveTheMarkUntilThePeerReads) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network, {.output_bytes_max = 1000});
    ASSERT_TRUE(pair) << pair;
    const std::string piece = numbered_text(10'000'000);
    EXPECT_TRUE(pair->client->try_write(bytes_of(piece)));
    EXPECT_THAT(pair->client->try_write(bytes_of("!")), fails_with(Code::resource_exhausted));
    see_arrivals(real.network);
    EXPECT_THAT(pair->client->try_write(bytes_of("!")), fails_with(Code::resource_exhausted));
    EXPECT_TRUE(read_exactly(*pair->server, piece.size()).value_or("") == piece);
    EXPECT_TRUE(pair->client->flush(soon()));
    EXPECT_TRUE(pair->client->try_write(bytes_of("!")));
    EXPECT_EQ(read_text(*pair->server).value_or(""), "!");
  });
}

TEST(StreamOutputTest, APeerThatTakesNothingForTooLongIsClosed) {
  run_on_real_loop([](RealLoop& real) {
    RawPair pair;
    accept_raw(real.network, pair, {.output_bytes_max = 1000, .output_stall_max = 5ms});
    const auto written = pair.stream->write_all(bytes_of(flood()), soon());
    ASSERT_THAT(written, fails_with(Code::unavailable));
    EXPECT_THAT(written.error().message(), HasSubstr("took no output"));
    EXPECT_TRUE(pair.stream->is_closed());
  });
}

TEST(StreamOutputTest, APeerIsClosedAlsoWhenOutputGrewGraduallyAboveTheMark) {
  run_on_real_loop([](RealLoop& real) {
    RawPair pair;
    accept_raw(real.network, pair, {.output_bytes_max = 100'000, .output_stall_max = 5ms});
    // Fills the connection, and comes to rest below the mark.
    const std::string piece(10'000, 'x');
    while (!pair.stream->flush(Deadline::passed()) || pair.stream->try_write(bytes_of(piece))) {
      see_arrivals(real.network);
      if (!pair.stream->flush(Deadline::passed())) break;
    }
    Result<void> written;
    while (written) written = pair.stream->try_write(bytes_of(piece));
    EXPECT_THAT(written, fails_with(Code::resource_exhausted));
    EXPECT_THAT(pair.stream->write_all(bytes_of("!"), soon()), fails_with(Code::unavailable));
  });
}

TEST(StreamOutputTest, ASlowPeerThatAcknowledgesSomethingIsNotClosed) {
  run_on_stepped_loop([](SteppedLoop& time, UvNetwork& network) {
    // Once its buffer is full, the kernel takes nothing until a third of it is free again: for a
    // peer of this speed that is later than the stall limit of this test.
    RawSocket listener;
    const Endpoint endpoint = listener.bind();
    listener.listen(1);
    const StreamOptions options{.output_bytes_max = 4'000'000, .output_stall_max = 10s};
    auto stream = network.connect(endpoint, Deadline::never(), options);
    ASSERT_TRUE(stream) << stream;
    RawSocket peer(::accept(listener.descriptor(), nullptr, nullptr));
    EXPECT_TRUE((*stream)->try_write(bytes_of(flood())));
    for (int round = 0; round < 10; ++round) {
      read_bytes(peer, 300'000);
      time.pass(4s);
      ASSERT_FALSE((*stream)->is_closed()) << "in round " << round;
    }
    time.allow(20s);
    EXPECT_THAT((*stream)->flush(Deadline::never()), fails_with(Code::unavailable))
        << "it stopped reading";
  });
}

TEST(StreamOutputTest, TheKernelHoardsNoMoreThanTheMarkForAPeerThatDoesNotRead) {
  run_on_real_loop([](RealLoop& real) {
    RawPair pair;
    accept_raw(real.network, pair, {.output_bytes_max = 100'000});
    EXPECT_TRUE(pair.stream->try_write(bytes_of(flood())));
    see_arrivals(real.network);
    int held_bytes = 0;
    ASSERT_EQ(::ioctl(descriptor_of(*pair.stream), SIOCOUTQ, &held_bytes), 0);
    EXPECT_GT(held_bytes, 0);
    EXPECT_LT(held_bytes, 400'000) << "including bytes on their way, in pieces of 64 KiB";
  });
}

TEST(StreamOutputTest, ASlowPeerThatTakesSomethingIsNotClosed) {
  run_on_stepped_loop([](SteppedLoop& time, UvNetwork& network) {
    auto pair = make_stream_pair(network, {.output_bytes_max = 1000, .output_stall_max = 10s});
    ASSERT_TRUE(pair) << pair;
    const std::string text = numbered_text(20'000'000);
    auto writer = coroutine::spawn(
        "writer", [&] { return pair->client->write_all(bytes_of(text), Deadline::never()); });
    std::string received;
    while (received.size() < text.size()) {
      auto part = read_exactly(*pair->server, 2'000'000);
      ASSERT_TRUE(part && !part->empty()) << part;
      received += *part;
      time.pass(4s);
    }
    EXPECT_TRUE(writer.join(soon()));
    EXPECT_TRUE(received == text);
  });
}

TEST(StreamOutputTest, FlushReturnsAtOnceWhenNothingIsQueued) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(pair->client->flush(Deadline::passed()));
    EXPECT_TRUE(pair->client->write_all({}, Deadline::passed()));
    EXPECT_TRUE(pair->client->flush(Deadline::passed()));
  });
}

TEST(StreamOutputTest, AStreamMayBeDestroyedWithOutputQueuedAndInFlight) {
  run_on_real_loop([](RealLoop& real) {
    auto pair = make_stream_pair(real.network);
    ASSERT_TRUE(pair) << pair;
    EXPECT_TRUE(pair->client->try_write(bytes_of(flood())));
    see_arrivals(real.network);
    EXPECT_THAT(pair->client->try_write(bytes_of("x")), fails_with(Code::resource_exhausted));
    pair->client->finish_writing();
    pair->client.reset();
    EXPECT_TRUE(pair->server->try_write(bytes_of("x")));
    pair->server.reset();
  });
}

}  // namespace
}  // namespace corolane::net
