// SPDX-License-Identifier: MIT
// A stream of a node whose outside is played by the test: what it asks for, and what it makes of
// each arrival.
#include "framework/recording/detail/inbox_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "test/framework/recording/scripted_feed.h"
#include "test/framework/recording/two_lives.h"
#include "test/net/stream_pair.h"
#include "test/net/test_sink.h"

namespace corolane::framework::recording {
namespace {

using namespace std::chrono_literals;
using net::bytes_of;
using net::TestSink;
using test::fails_with;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class InboxStreamTest : public testing::Test {
 protected:
  // Calls `body` on a task of a node with one connection, stream 1.
  void live(const std::function<void()>& body, const net::StreamOptions& options = {}) {
    recording::live(feed_, [&](net::Network& network, Inbox&) {
      auto connected =
          network.connect({.address = "10.0.0.1", .port = 7}, Deadline::never(), options);
      ASSERT_TRUE(connected) << connected.error();
      stream_ = *std::move(connected);
      body();
      stream_.reset();
    });
  }
  // The loop takes a turn: requests go out, arrivals come in.
  static void turn() { ASSERT_TRUE(coroutine::sleep_for(1us)); }
  std::vector<std::string> asked() {
    turn();
    return feed_.take_asked();
  }
  Result<std::string> read(std::size_t count_max = 4096) {
    return net::read_text(*stream_, Deadline::after(1s), count_max);
  }
  Result<void> try_write(const std::string& text) { return stream_->try_write(bytes_of(text)); }

  ScriptedFeed feed_;
  std::unique_ptr<net::Stream> stream_;
};

TEST_F(InboxStreamTest, ANewStreamAsksForItsInput) {
  live([&] {
    EXPECT_THAT(asked(), ElementsAre("read 1"));
    EXPECT_EQ(stream_->peer_endpoint(), (net::Endpoint{.address = "10.0.0.1", .port = 7}));
    EXPECT_EQ(stream_->local_endpoint().address, "127.0.0.9");
    EXPECT_FALSE(stream_->is_closed());
  });
}

TEST_F(InboxStreamTest, BytesAreReadInPiecesAndReportedOncePerTurn) {
  live([&] {
    asked();
    feed_.bytes(1, "hello");
    feed_.bytes(1, " you");
    EXPECT_EQ(read(2).value_or("?"), "he");
    EXPECT_EQ(read(5).value_or("?"), "llo y");
    EXPECT_THAT(asked(), ElementsAre("taken 1 7"));
    EXPECT_EQ(read().value_or("?"), "ou");
    EXPECT_THAT(asked(), ElementsAre("taken 1 2"));
    EXPECT_THAT(asked(), IsEmpty());
    EXPECT_EQ(stream_->statistics().received_bytes, 9U);
  });
}

TEST_F(InboxStreamTest, BytesThatASinkGaveBackAreReadAgainAndReportedOnce) {
  live([&] {
    asked();
    TestSink first;
    stream_->set_read_sink(first);
    feed_.bytes(1, "hel");
    EXPECT_THAT(asked(), ElementsAre("taken 1 3"));
    first.when_bytes = [&](auto) { stream_->release_read_sink(bytes_of(first.text)); };
    feed_.bytes(1, "lo");
    EXPECT_THAT(asked(), ElementsAre("taken 1 2"));
    feed_.bytes(1, " you");
    EXPECT_EQ(read(4).value_or("?"), "hell");
    EXPECT_THAT(asked(), IsEmpty());
    TestSink next;
    stream_->set_read_sink(next);
    EXPECT_THAT(asked(), ElementsAre("taken 1 4"));
    EXPECT_EQ(next.text, "o you");
    EXPECT_EQ(first.text, "hello");
  });
}

TEST_F(InboxStreamTest, AReaderWaitsForBytesUntilItsDeadline) {
  live([&] {
    const TimePoint start = now();
    EXPECT_THAT(read(), fails_with(Code::deadline_exceeded));
    EXPECT_EQ(now() - start, 1s);
    auto reading = coroutine::spawn("read", [&] { return read(); });
    turn();
    feed_.bytes(1, "late");
    EXPECT_EQ(reading.join(Deadline::never()).value_or("?"), "late");
  });
}

TEST_F(InboxStreamTest, WritesOfOneTurnAreOneRequest) {
  live([&] {
    asked();
    EXPECT_TRUE(try_write("one, "));
    EXPECT_TRUE(try_write(""));
    EXPECT_TRUE(try_write("two"));
    EXPECT_THAT(asked(), ElementsAre("write 1 one, two"));
    EXPECT_TRUE(try_write("three"));
    EXPECT_THAT(asked(), ElementsAre("write 1 three"));
  });
}

TEST_F(InboxStreamTest, AWriterIsRefusedAboveTheMarkUntilThePeerHasTakenEnough) {
  live(
      [&] {
        EXPECT_TRUE(try_write("0123456789"));
        EXPECT_TRUE(try_write("x")) << "the mark is reached, not passed";
        EXPECT_THAT(try_write("y"), fails_with(Code::resource_exhausted));
        feed_.written(1, 1);
        turn();
        EXPECT_TRUE(try_write("y"));
        EXPECT_EQ(stream_->statistics().written_bytes, 12U);
        EXPECT_EQ(stream_->statistics().unsent_bytes, 11U);
        EXPECT_EQ(stream_->statistics().acknowledged_bytes, 1U);
      },
      {.output_bytes_max = 10});
}

TEST_F(InboxStreamTest, AWriterWaitsAboveTheMark) {
  live(
      [&] {
        EXPECT_TRUE(stream_->write_all(bytes_of("0123456789"), Deadline::passed()));
        EXPECT_THAT(stream_->write_all(bytes_of("x"), Deadline::after(1s)),
                    fails_with(Code::deadline_exceeded));
        auto writing = coroutine::spawn(
            "write", [&] { return stream_->write_all(bytes_of("y"), Deadline::never()); });
        turn();
        feed_.written(1, 1);
        turn();
        EXPECT_FALSE(writing.is_done());
        feed_.written(1, 1);
        EXPECT_TRUE(writing.join(Deadline::never()));
      },
      {.output_bytes_max = 10});
}

TEST_F(InboxStreamTest, AFlushWaitsUntilEverythingIsTaken) {
  live([&] {
    EXPECT_TRUE(stream_->flush(Deadline::passed())) << "there is nothing to wait for";
    EXPECT_TRUE(try_write("12345"));
    feed_.written(1, 4);
    EXPECT_THAT(stream_->flush(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
    feed_.written(1, 1);
    EXPECT_TRUE(stream_->flush(Deadline::after(1s)));
  });
}

TEST_F(InboxStreamTest, TheEndOfTheOutputFollowsItAndIsAskedForOnce) {
  live([&] {
    asked();
    EXPECT_TRUE(try_write("the last"));
    stream_->finish_writing();
    stream_->finish_writing();
    EXPECT_THAT(try_write("more"), fails_with(Code::failed_precondition));
    EXPECT_THAT(asked(), ElementsAre("write 1 the last", "finish 1"));
    feed_.bytes(1, "an answer");
    EXPECT_EQ(read().value_or("?"), "an answer");
  });
}

TEST_F(InboxStreamTest, ThePeersEndFollowsItsBytes) {
  live([&] {
    feed_.bytes(1, "the last");
    feed_.ended(1, /*is_broken=*/false, "closed by peer");
    EXPECT_EQ(read(3).value_or("?"), "the");
    EXPECT_EQ(read().value_or("?"), " last");
    EXPECT_EQ(read().value_or("?"), "");
    EXPECT_FALSE(stream_->is_closed());
    EXPECT_TRUE(try_write("an answer"));
  });
}

TEST_F(InboxStreamTest, ABrokenStreamIsReadToItsEndAndWrittenNoMore) {
  live([&] {
    asked();
    EXPECT_TRUE(try_write("in vain"));
    feed_.bytes(1, "the last");
    feed_.ended(1, /*is_broken=*/true, "connection reset");
    auto flushing = coroutine::spawn("flush", [&] { return stream_->flush(Deadline::never()); });
    EXPECT_EQ(read().value_or("?"), "the last");
    const auto end = read();
    ASSERT_THAT(end, fails_with(Code::unavailable));
    EXPECT_EQ(end.error().message(), "connection reset");
    EXPECT_TRUE(stream_->is_closed());
    EXPECT_THAT(flushing.join(Deadline::never()), fails_with(Code::unavailable));
    EXPECT_THAT(try_write("more"), fails_with(Code::unavailable));
  });
}

TEST_F(InboxStreamTest, AStreamMayBreakAfterThePeerHasFinished) {
  live([&] {
    feed_.ended(1, /*is_broken=*/false, "closed by peer");
    EXPECT_EQ(read().value_or("?"), "");
    feed_.ended(1, /*is_broken=*/true, "connection reset");
    turn();
    EXPECT_TRUE(stream_->is_closed());
    EXPECT_THAT(read(), fails_with(Code::unavailable));
  });
}

TEST_F(InboxStreamTest, InputOutlivesAFailedOutput) {
  live(
      [&] {
        auto writing = coroutine::spawn("write", [&] {
          return stream_->write_all(bytes_of("0123456789x"), Deadline::never());
        });
        turn();
        feed_.write_failed(1, "broken pipe");
        const auto written = writing.join(Deadline::never());
        ASSERT_THAT(written, fails_with(Code::unavailable));
        EXPECT_EQ(written.error().message(), "broken pipe");
        EXPECT_THAT(try_write("more"), fails_with(Code::unavailable)) << "full or not";
        EXPECT_THAT(stream_->flush(Deadline::never()), fails_with(Code::unavailable));
        EXPECT_FALSE(stream_->is_closed());
        feed_.bytes(1, "the last");
        EXPECT_EQ(read().value_or("?"), "the last");
        feed_.ended(1, /*is_broken=*/false, "closed by peer");
        EXPECT_EQ(read().value_or("?"), "");
        EXPECT_TRUE(stream_->is_closed());
      },
      {.output_bytes_max = 10});
}

TEST_F(InboxStreamTest, AClosedStreamEndsItsReadersAndWriters) {
  live(
      [&] {
        auto reading =
            coroutine::spawn("read", [&] { return net::read_text(*stream_, Deadline::never()); });
        auto writing = coroutine::spawn("write", [&] {
          return stream_->write_all(bytes_of("0123456789x"), Deadline::never());
        });
        asked();
        stream_->close();
        stream_->close();
        EXPECT_THAT(reading.join(Deadline::never()), fails_with(Code::unavailable));
        EXPECT_THAT(writing.join(Deadline::never()), fails_with(Code::unavailable));
        EXPECT_THAT(try_write("more"), fails_with(Code::unavailable));
        EXPECT_THAT(read(), fails_with(Code::unavailable));
        EXPECT_THAT(asked(), ElementsAre("close 1"));
        // They were on their way.
        feed_.bytes(1, "late");
        feed_.ended(1, /*is_broken=*/true, "connection reset");
        EXPECT_THAT(asked(), IsEmpty());
      },
      {.output_bytes_max = 10});
  EXPECT_THAT(feed_.take_asked(), IsEmpty()) << "its destructor asks for nothing more";
}

TEST_F(InboxStreamTest, ASinkGetsTheBytesOfATurnAndThenTheEnd) {
  live([&] {
    TestSink sink;
    stream_->set_read_sink(sink);
    asked();
    feed_.bytes(1, "one");
    EXPECT_THAT(asked(), ElementsAre("taken 1 3"));
    EXPECT_EQ(sink.text, "one");
    EXPECT_THAT(sink.ends, IsEmpty());
    feed_.bytes(1, " two");
    feed_.ended(1, /*is_broken=*/false, "closed by peer");
    turn();
    EXPECT_EQ(sink.text, "one two");
    EXPECT_THAT(sink.ends, ElementsAre(HasSubstr("closed by peer")));
    feed_.ended(1, /*is_broken=*/true, "connection reset");
    turn();
    EXPECT_EQ(sink.ends.size(), 1U) << "an end comes once";
  });
}

// The caller has not finished setting itself up.
TEST_F(InboxStreamTest, ASinkIsNotCalledInsideTheCallThatSetsIt) {
  live([&] {
    feed_.bytes(1, "early");
    turn();
    TestSink sink;
    stream_->set_read_sink(sink);
    EXPECT_EQ(sink.text, "");
    turn();
    EXPECT_EQ(sink.text, "early");
    stream_->pause_reading();
    feed_.bytes(1, " late");
    turn();
    stream_->resume_reading();
    EXPECT_EQ(sink.text, "early");
    turn();
    EXPECT_EQ(sink.text, "early late");
  });
}

TEST_F(InboxStreamTest, APausedSinkGetsNothingAndReportsNothing) {
  live([&] {
    TestSink sink;
    stream_->set_read_sink(sink);
    stream_->pause_reading();
    asked();
    feed_.bytes(1, "one");
    feed_.ended(1, /*is_broken=*/false, "closed by peer");
    EXPECT_THAT(asked(), IsEmpty());
    EXPECT_EQ(sink.text, "");
    EXPECT_THAT(sink.ends, IsEmpty());
    EXPECT_EQ(stream_->statistics().reading_since, TimePoint::max());
    stream_->resume_reading();
    EXPECT_THAT(asked(), ElementsAre("taken 1 3"));
    EXPECT_EQ(sink.text, "one");
    EXPECT_EQ(sink.ends.size(), 1U);
  });
}

TEST_F(InboxStreamTest, APausedSinkLearnsOfABreakAtOnce) {
  live([&] {
    TestSink sink;
    stream_->set_read_sink(sink);
    stream_->pause_reading();
    feed_.bytes(1, "unread");
    feed_.ended(1, /*is_broken=*/true, "connection reset");
    turn();
    EXPECT_EQ(sink.text, "");
    EXPECT_THAT(sink.ends, ElementsAre(HasSubstr("connection reset")));
  });
}

TEST_F(InboxStreamTest, ASinkGetsNothingWhileItsPeerDoesNotTakeOutput) {
  live(
      [&] {
        TestSink sink;
        stream_->set_read_sink(sink);
        EXPECT_TRUE(try_write("0123456789x"));
        feed_.bytes(1, "a request");
        turn();
        EXPECT_EQ(sink.text, "");
        const TimePoint start = now();
        ASSERT_TRUE(coroutine::sleep_for(1s));
        feed_.written(1, 1);
        turn();
        EXPECT_EQ(sink.text, "a request");
        EXPECT_GE(stream_->statistics().reading_since, start + 1s);
      },
      {.output_while_reading_max = 10});
}

TEST_F(InboxStreamTest, ASinkThatClosesItsStreamGetsNoEnd) {
  live([&] {
    TestSink sink;
    sink.when_bytes = [&](std::span<const std::byte>) { stream_->close(); };
    stream_->set_read_sink(sink);
    feed_.bytes(1, "one");
    feed_.ended(1, /*is_broken=*/false, "closed by peer");
    turn();
    EXPECT_EQ(sink.text, "one");
    EXPECT_THAT(sink.ends, IsEmpty());
  });
}

}  // namespace
}  // namespace corolane::framework::recording
