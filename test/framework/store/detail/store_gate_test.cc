// SPDX-License-Identifier: MIT
#include "framework/store/detail/store_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "rpc/call_scope.h"
#include "rpc/observe/tracing.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;
using testing::Not;

constexpr ObjectKey alice = {.type = "chess.Player", .id = "alice"};

// Names its address in each of its errors.
class TalkativeStore final : public MemoryStore {
 public:
  Result<std::uint64_t> next_epoch(Deadline deadline) override {
    if (code) return failure();
    return MemoryStore::next_epoch(deadline);
  }
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override {
    if (code) return failure();
    return MemoryStore::seal(key, epoch, deadline);
  }
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override {
    if (delay > 0ms) static_cast<void>(coroutine::sleep_for(delay));
    if (code) return failure().with_maybe_executed();
    return MemoryStore::write(key, epoch, version, object, deadline);
  }

  std::optional<Code> code;
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds retry_after{0};

 private:
  Error failure() const {
    return Error(*code, "redis 10.0.0.7:6379/0: script: d992e92a").with_retry_after(retry_after);
  }
};

class StoreGateTest : public testing::Test {
 protected:
  std::shared_ptr<TalkativeStore> store_ = std::make_shared<TalkativeStore>();
  StoreHealth health_;
  std::string lines_;
  Log log_{LogLevel::info, [this](std::string_view line) { lines_.append(line).append(1, '\n'); }};
  StoreGate gate_{store_, health_, log_};
};

TEST_F(StoreGateTest, ACallOfASampledTraceHasSpansOfItsWaits) {
  std::vector<rpc::SpanRecord> spans;
  rpc::Tracer tracer({.sample_ratio = 1},
                     [&](const rpc::SpanRecord& span) { spans.push_back(span); });
  StoreGate gate(store_, health_, log_, &tracer);
  const auto write = [&] {
    static_cast<void>(gate.write(alice, 1, 0, {.bytes = "x", .new_version = 1}, Deadline::never()));
  };
  store_->delay = 5ms;
  write();
  EXPECT_TRUE(spans.empty()) << "no call is under way";
  auto call = coroutine::spawn("call", [&] {
    rpc::CallScope::enter({.trace = {.trace_id = {std::byte{7}}, .span_id = 9}});
    write();
    EXPECT_TRUE(spans.empty()) << "its trace is not sampled";
    rpc::CallScope::enter(
        {.trace = {.trace_id = {std::byte{7}}, .span_id = 9, .is_sampled = true}});
    store_->code = Code::unavailable;
    write();
    store_->delay = 0ms;
    write();
  });
  EXPECT_TRUE(call.join(Deadline::never()));
  ASSERT_EQ(spans.size(), 1u) << "a write that takes no time has none";
  EXPECT_EQ(spans[0].name, "store write");
  EXPECT_EQ(spans[0].kind, rpc::SpanKind::client);
  EXPECT_EQ(spans[0].parent_span_id, 9u);
  EXPECT_EQ(spans[0].end - spans[0].start, 5ms);
  EXPECT_TRUE(spans[0].has_failed);
  EXPECT_EQ(spans[0].failure, "the store is not available");
}

TEST_F(StoreGateTest, CallersDoNotLearnTheAddressOfTheStore) {
  for (const auto& [code, text] : {std::pair(Code::resource_exhausted, "the store is full"),
                                   std::pair(Code::unavailable, "the store is not available"),
                                   std::pair(Code::deadline_exceeded, "in time")}) {
    store_->code = code;
    const auto sealed = gate_.seal(alice, 1, Deadline::never());
    ASSERT_THAT(sealed, fails_with(code));
    EXPECT_THAT(sealed.error().message(), HasSubstr(text));
    EXPECT_THAT(sealed.error().message(), Not(HasSubstr("10.0.0.7")));
  }
  store_->code = Code::permission_denied;
  EXPECT_THAT(gate_.seal(alice, 1, Deadline::never()), fails_with(Code::unavailable));
  const auto unknown = gate_.write(alice, 1, 0, {.bytes = ""}, Deadline::never());
  ASSERT_THAT(unknown, fails_with(Code::unavailable));
  EXPECT_TRUE(unknown.error().maybe_executed());
  EXPECT_THAT(lines_, HasSubstr("10.0.0.7")) << "the log names it";
}

TEST_F(StoreGateTest, ARefusalOfAPastOwnerIsPassedOn) {
  ASSERT_TRUE(gate_.seal(alice, 9, Deadline::never()));
  EXPECT_THAT(gate_.seal(alice, 8, Deadline::never()), fails_with(Code::aborted));
  EXPECT_EQ(lines_, "");
}

TEST_F(StoreGateTest, RepeatedFailuresAreLoggedNowAndThen) {
  store_->code = Code::unavailable;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(gate_.seal(alice, 1, Deadline::never()));
    ASSERT_TRUE(coroutine::sleep_for(20ms));
  }
  EXPECT_EQ(std::ranges::count(lines_, '\n'), 2);
}

TEST_F(StoreGateTest, AStoreThatIsFullIsNotReadyUntilThereIsRoom) {
  store_->code = Code::resource_exhausted;
  EXPECT_FALSE(gate_.seal(alice, 1, Deadline::never()));
  EXPECT_TRUE(health_.is_full());
  ASSERT_TRUE(coroutine::sleep_for(10s));
  EXPECT_TRUE(health_.is_full());
  store_->code.reset();
  ASSERT_TRUE(coroutine::sleep_for(2s));
  EXPECT_FALSE(health_.is_full());
  EXPECT_THAT(lines_, HasSubstr("room again"));
}

TEST_F(StoreGateTest, ReadsAndWritesAreTimedAndFailuresCounted) {
  ASSERT_TRUE(gate_.seal(alice, 9, Deadline::never()));
  ASSERT_TRUE(gate_.write(alice, 9, 0, {.bytes = ""}, Deadline::never()));
  EXPECT_THAT(gate_.seal(alice, 8, Deadline::never()), fails_with(Code::aborted));
  EXPECT_EQ(gate_.statistics().read_us.count(), 2U);
  EXPECT_EQ(gate_.statistics().write_us.count(), 1U);
  EXPECT_EQ(gate_.statistics().error_count, 0U) << "a decision of the store is no error";
  store_->code = Code::unavailable;
  EXPECT_FALSE(gate_.write(alice, 9, 1, {.bytes = ""}, Deadline::never()));
  EXPECT_EQ(gate_.statistics().error_count, 1U);
}

// Otherwise a client with many calls could make the load balancer take the node out of service.
TEST_F(StoreGateTest, ABusyStoreIsNotFull) {
  store_->code = Code::resource_exhausted;
  store_->retry_after = 100ms;
  const auto sealed = gate_.seal(alice, 1, Deadline::never());
  ASSERT_THAT(sealed, fails_with(Code::resource_exhausted));
  EXPECT_EQ(sealed.error().message(), "the store has too much to do");
  EXPECT_EQ(sealed.error().retry_after(), 100ms);
  EXPECT_FALSE(health_.is_full());
}

}  // namespace
}  // namespace corolane::framework::detail
