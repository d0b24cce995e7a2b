// SPDX-License-Identifier: MIT
#include "net/detail/read_half.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "test/net/test_sink.h"

namespace corolane::net::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// A stream whose input the test makes up.
struct Source {
  // Reads at most `size_max` bytes; "" stands for the end.
  std::string read(std::size_t size_max = 16) {
    std::string text(size_max, ' ');
    const auto count = half.read_some(std::as_writable_bytes(std::span(text)), Deadline::after(1s));
    if (!count) return count.error().to_string();
    text.resize(*count);
    return text;
  }

  // Does what a stream does that reads into the room.
  void fill(std::string_view text) {
    const std::span<std::byte> room = half.room(1024);
    std::memcpy(room.data(), text.data(), text.size());
    half.fill(text.size());
  }

  BufferPool buffers;
  ReadHalf half{buffers, "test read"};
};

TEST(ReadHalfTest, ATaskReadsWhatCameAheadOfItInPieces) {
  Source source;
  source.fill("one ");
  source.half.keep(bytes_of("two"));
  EXPECT_EQ(source.read(5), "one t");
  EXPECT_EQ(source.read(5), "wo");
  EXPECT_FALSE(source.half.has_early());
}

TEST(ReadHalfTest, AWaitingTaskIsGivenInputInItsOwnBuffer) {
  Source source;
  auto task = coroutine::spawn("reader", [&] { return source.read(); });
  ASSERT_TRUE(coroutine::yield());
  ASSERT_TRUE(source.half.has_task());
  EXPECT_EQ(source.half.room(1024).size(), 16U);
  source.fill("");
  EXPECT_TRUE(source.half.has_task());  // Nothing wakes it for no input.
  source.fill("input");
  EXPECT_FALSE(source.half.has_task());
  source.fill(" behind it");  // Comes before the task has run.
  EXPECT_EQ(task.join(Deadline::never()), "input");
  EXPECT_EQ(source.read(), " behind it");
}

TEST(ReadHalfTest, InputThatExceedsTheTasksBufferIsKept) {
  Source source;
  auto task = coroutine::spawn("reader", [&] { return source.read(3); });
  ASSERT_TRUE(coroutine::yield());
  source.half.keep(bytes_of("abcdef"));
  EXPECT_EQ(task.join(Deadline::never()), "abc");
  EXPECT_EQ(source.read(), "def");
}

TEST(ReadHalfTest, NothingIsLostWhenAReaderGivesUp) {
  Source source;
  EXPECT_THAT(source.read(), testing::HasSubstr("deadline passed while waiting: test read"));
  source.fill("late");
  EXPECT_EQ(source.read(), "late");
}

TEST(ReadHalfTest, TheEndIsReadBehindAllInput) {
  Source source;
  auto task = coroutine::spawn("reader", [&] { return source.read(); });
  ASSERT_TRUE(coroutine::yield());
  source.fill("a");
  source.fill("b");
  source.half.end();
  EXPECT_EQ(task.join(Deadline::never()), "a");
  EXPECT_EQ(source.read(), "b");
  EXPECT_EQ(source.read(), "");
  EXPECT_EQ(source.read(), "");
}

TEST(ReadHalfTest, TheEndWakesAWaitingTask) {
  Source source;
  auto task = coroutine::spawn("reader", [&] { return source.read(); });
  ASSERT_TRUE(coroutine::yield());
  source.half.end();
  EXPECT_EQ(task.join(Deadline::never()), "");
}

TEST(ReadHalfTest, ASinkIsFedOnlyOnceEarlyInputIsDelivered) {
  Source source;
  TestSink sink;
  source.fill("early");
  EXPECT_TRUE(source.half.set_sink(sink));
  EXPECT_FALSE(source.half.feeds_sink());
  source.half.deliver_early();
  EXPECT_EQ(sink.text, "early");
  EXPECT_TRUE(source.half.feeds_sink());
}

TEST(ReadHalfTest, ASinkIsOwedTheEndOnceAndBehindAllInput) {
  Source source;
  TestSink sink;
  source.fill("early");
  source.half.set_sink(sink);
  EXPECT_FALSE(source.half.owes_end(false));
  source.half.end();
  EXPECT_FALSE(source.half.owes_end(false));
  source.half.deliver_early();
  ASSERT_TRUE(source.half.owes_end(false));
  source.half.tell_end(Error(Code::unavailable, "over"));
  EXPECT_THAT(sink.ends, ElementsAre("unavailable: over"));
  EXPECT_FALSE(source.half.owes_end(false));
  EXPECT_FALSE(source.half.owes_end(true));
}

TEST(ReadHalfTest, APausedSinkIsOwedOnlyTheEndOfAFailure) {
  Source source;
  TestSink sink;
  source.half.set_sink(sink);
  source.half.pause();
  source.half.end();
  EXPECT_FALSE(source.half.owes_end(false));
  EXPECT_TRUE(source.half.owes_end(true));
  EXPECT_TRUE(source.half.resume());
  EXPECT_FALSE(source.half.resume());
  EXPECT_TRUE(source.half.owes_end(false));
}

TEST(ReadHalfTest, AClosedSourceDropsInputAndTakesNoSink) {
  Source source;
  TestSink sink;
  source.fill("dropped");
  source.half.set_sink(sink);
  source.half.close();
  EXPECT_FALSE(source.half.has_sink());
  EXPECT_FALSE(source.half.set_sink(sink));
  EXPECT_FALSE(source.half.owes_end(true));
  EXPECT_EQ(source.read(), "");
  EXPECT_THAT(sink.ends, IsEmpty());
}

// The stream, and with it the ReadHalf, is gone when the sink returns. Sanitizers see a later use.
TEST(ReadHalfTest, ASinkMayDestroyTheSourceOfEarlyInput) {
  BufferPool buffers;
  auto half = std::make_unique<ReadHalf>(buffers, "test read");
  TestSink sink;
  sink.when_bytes = [&](std::span<const std::byte>) { half.reset(); };
  half->keep(bytes_of("last"));
  half->set_sink(sink);
  half->deliver_early();
  EXPECT_EQ(sink.text, "last");
  EXPECT_EQ(half, nullptr);
}

// Records pause_reading() and resume_reading(), in order.
class RecordingStream final : public Stream {
 public:
  std::string calls;

  void pause_reading() override { calls += "pause "; }
  void resume_reading() override { calls += "resume "; }
  Result<std::size_t> read_some(std::span<std::byte>, Deadline) override { return 0; }
  void set_read_sink(ReadSink&) override {}
  void release_read_sink(std::span<const std::byte>) override {}
  Result<void> write_all(std::span<const std::byte>, Deadline) override { return {}; }
  Result<void> try_write(std::span<const std::byte>) override { return {}; }
  Result<void> flush(Deadline) override { return {}; }
  void finish_writing() override {}
  void close() override {}
  bool is_closed() const override { return false; }
  const Endpoint& peer_endpoint() const override { return endpoint_; }
  const Endpoint& local_endpoint() const override { return endpoint_; }

 private:
  Endpoint endpoint_;
};

TEST(SourcePauseTest, ASourceResumesOnlyWhenAllInputIsTaken) {
  RecordingStream stream;
  SourcePause pause;
  const auto regulate = [&](bool has_enough, bool is_empty) {
    pause.regulate(stream, has_enough, is_empty);
    return pause.is_paused();
  };
  EXPECT_FALSE(regulate(false, true));
  EXPECT_FALSE(regulate(false, false));
  EXPECT_TRUE(regulate(true, false));
  EXPECT_TRUE(regulate(true, false));
  EXPECT_TRUE(regulate(false, false));  // Some of it is still there.
  EXPECT_EQ(stream.calls, "pause ");
  EXPECT_FALSE(regulate(false, true));
  EXPECT_EQ(stream.calls, "pause resume ");
}

}  // namespace
}  // namespace corolane::net::detail
