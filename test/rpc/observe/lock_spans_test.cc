// SPDX-License-Identifier: MIT
// Spans of waits for locks.
#include "rpc/observe/lock_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "coroutine/sync/mutex.h"
#include "coroutine/sync/shared_mutex.h"
#include "coroutine/task.h"
#include "rpc/call_scope.h"
#include "rpc/observe/tracing.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using coroutine::Mutex;
using coroutine::SharedMutex;
using rpc::SpanRecord;

class LockSpansTest : public testing::Test {
 protected:
  // Runs `body` in a task whose trace is sampled, or not.
  static void in_trace(bool is_sampled, const std::function<void()>& body) {
    auto task = coroutine::spawn("buyer", [&] {
      rpc::CallScope::enter(
          {.trace = {.trace_id = {std::byte{7}}, .span_id = 9, .is_sampled = is_sampled}});
      body();
    });
    EXPECT_TRUE(task.join(Deadline::never()));
  }
  // Holds a lock for that time.
  template <typename Lock>
  static coroutine::Task<void> hold(Lock& lock, Duration time) {
    auto task = coroutine::spawn("seller", [&lock, time] {
      lock.lock();
      static_cast<void>(coroutine::sleep_for(time));
      lock.unlock();
    });
    EXPECT_TRUE(coroutine::yield());
    return task;
  }
  static std::string text(const SpanRecord& span, std::string_view key) {
    for (const auto& [name, value] : span.attributes) {
      if (name != key) continue;
      if (const auto* text = std::get_if<std::string>(&value)) return *text;
      return std::to_string(std::get<std::int64_t>(value));
    }
    return "none";
  }

  std::vector<SpanRecord> spans_;
  rpc::Tracer tracer_{{.random_seed = 1},
                      [this](const SpanRecord& span) { spans_.push_back(span); }};
  std::optional<rpc::LockSpans> lock_spans_{tracer_};
};

TEST_F(LockSpansTest, AWaitForALockHasASpanThatSaysWhichAndForWhom) {
  Mutex market("market");
  const int line = __LINE__ - 1;
  auto seller = hold(market, 20ms);
  in_trace(true, [&] {
    const std::scoped_lock lock(market);
    EXPECT_EQ(rpc::CallScope::current()->trace.span_id, 9u);
  });
  EXPECT_TRUE(seller.join(Deadline::never()));
  ASSERT_EQ(spans_.size(), 1u);
  const SpanRecord& span = spans_[0];
  EXPECT_EQ(span.name, "wait for lock");
  EXPECT_EQ(span.kind, rpc::SpanKind::internal);
  EXPECT_EQ(span.parent_span_id, 9u);
  EXPECT_EQ(span.context.trace_id[0], std::byte{7});
  EXPECT_EQ(span.end - span.start, 20ms);
  EXPECT_EQ(text(span, "corolane.lock.name"), "market");
  EXPECT_EQ(text(span, "corolane.lock.holder"), "seller");
  EXPECT_EQ(text(span, "code.file.path"), "test/rpc/observe/lock_spans_test.cc");
  EXPECT_EQ(text(span, "code.line.number"), std::to_string(line));
}

TEST_F(LockSpansTest, ASharedMutexHasThemForReadersAndWriters) {
  SharedMutex market("market");
  auto writer = hold(market, 20ms);
  in_trace(true, [&] { const std::shared_lock lock(market); });
  EXPECT_TRUE(writer.join(Deadline::never()));
  auto reader = coroutine::spawn("reader", [&] {
    const std::shared_lock lock(market);
    static_cast<void>(coroutine::sleep_for(30ms));
  });
  EXPECT_TRUE(coroutine::yield());
  in_trace(true, [&] { const std::scoped_lock lock(market); });
  EXPECT_TRUE(reader.join(Deadline::never()));
  ASSERT_EQ(spans_.size(), 2u);
  EXPECT_EQ(text(spans_[0], "corolane.lock.holder"), "seller");
  EXPECT_EQ(spans_[1].end - spans_[1].start, 30ms);
  EXPECT_EQ(text(spans_[1], "corolane.lock.holder"), "none") << "readers have no name";
}

TEST_F(LockSpansTest, AWaitThatGivesUpHasOneToo) {
  Mutex market;
  auto seller = hold(market, 20ms);
  in_trace(true, [&] { EXPECT_FALSE(market.try_lock_for(5ms)); });
  EXPECT_TRUE(seller.join(Deadline::never()));
  ASSERT_EQ(spans_.size(), 1u);
  EXPECT_EQ(spans_[0].end - spans_[0].start, 5ms);
}

TEST_F(LockSpansTest, AFreeLockAndATryHaveNone) {
  Mutex free;
  Mutex market;
  SharedMutex shared;
  auto seller = hold(market, 20ms);
  auto writer = hold(shared, 20ms);
  in_trace(true, [&] {
    const std::scoped_lock lock(free);
    EXPECT_FALSE(market.try_lock());
    EXPECT_FALSE(shared.try_lock());
  });
  EXPECT_TRUE(seller.join(Deadline::never()));
  EXPECT_TRUE(writer.join(Deadline::never()));
  EXPECT_TRUE(spans_.empty());
  EXPECT_EQ(tracer_.statistics().open_count, 0u);
}

TEST_F(LockSpansTest, AWaitIsNotRecordedWithoutASampledTraceOrForAShortTime) {
  Mutex market;
  auto seller = hold(market, 20ms);
  in_trace(false, [&] { const std::scoped_lock lock(market); });
  auto untraced = coroutine::spawn("untraced", [&] { const std::scoped_lock lock(market); });
  EXPECT_TRUE(untraced.join(Deadline::never()));
  EXPECT_TRUE(seller.join(Deadline::never()));
  auto quick = hold(market, 50us);
  in_trace(true, [&] { const std::scoped_lock lock(market); });
  EXPECT_TRUE(quick.join(Deadline::never()));
  EXPECT_TRUE(spans_.empty());
}

TEST_F(LockSpansTest, ALockMayHaveNoObserver) {
  SharedMutex turn("turn", SharedMutex::Unobserved());
  auto holder = hold(turn, 20ms);
  in_trace(true, [&] { const std::scoped_lock lock(turn); });
  EXPECT_TRUE(holder.join(Deadline::never()));
  EXPECT_TRUE(spans_.empty());
}

TEST_F(LockSpansTest, OnlyTheFirstIsToldUntilItEnds) {
  std::vector<SpanRecord> others;
  rpc::Tracer other({}, [&](const SpanRecord& span) { others.push_back(span); });
  Mutex market;
  const auto wait = [&] {
    auto seller = hold(market, 20ms);
    in_trace(true, [&] { const std::scoped_lock lock(market); });
    EXPECT_TRUE(seller.join(Deadline::never()));
  };
  std::optional<rpc::LockSpans> second(other);
  wait();
  EXPECT_EQ(spans_.size(), 1u);
  second.reset();
  wait();
  EXPECT_EQ(spans_.size(), 2u);
  lock_spans_.reset();
  wait();
  EXPECT_EQ(spans_.size(), 2u);
  second.emplace(other);
  wait();
  EXPECT_EQ(others.size(), 1u);
}

}  // namespace
}  // namespace corolane::test
