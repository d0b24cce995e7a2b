// SPDX-License-Identifier: MIT
// The store of a node is unreachable, is full, or loses its replies, while clients keep calling:
// acknowledged changes are stored exactly once, and service recovers within seconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/testing/network.h"
#include "test/framework/counter.h"
#include "test/framework/store/faulty_store.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::Counter;
using test::CounterClient;
using test::FaultyStore;
using testing::HasSubstr;

constexpr int client_count = test::under_sanitizer ? 5 : 20;
constexpr int object_count = 7;
// The time within which all clients are served again after the fault ends.
constexpr Duration recovery_time_max = 5s;

std::string object_of(std::uint64_t number) { return std::to_string(number % object_count); }

class StoreFaultsTest : public testing::Test {
 protected:
  void begin() {
    store_ = std::make_shared<FaultyStore>(table_);
    node_ = std::make_unique<Node>(
        test::node_config("node"), network_,
        Log(LogLevel::warning, [this](std::string_view line) { warnings_ += line; }),
        Node::Parts{.store = store_});
    node_->host<Counter>();
    const auto started = node_->start();
    ASSERT_TRUE(started) << started;
  }
  // None of its last writes reaches the store.
  void crash() {
    store_->cut();
    static_cast<void>(node_->stop(Deadline::passed()));
    node_.reset();
  }

  // Starts clients that add one to one object after the other until `end`, and retry each call
  // until it is acknowledged.
  void play(TimePoint end) {
    for (std::uint64_t i = 0; i < client_count; ++i) {
      ASSERT_TRUE(clients_.spawn("client", [this, i, end] {
        const std::string name = "client " + std::to_string(i);
        for (std::uint64_t sequence = 1; now() < end; ++sequence) {
          add(name, sequence, object_of(i + sequence));
          if (!coroutine::sleep_for(random_.up_to(20ms))) return;
        }
      }));
    }
  }
  void add(const std::string& client, std::uint64_t sequence, const std::string& object) {
    test::AddRequest request;
    request.set_amount(1);
    while (true) {
      const auto reply = CounterClient(node_->router(), object)
                             .add_for_good(request, {.deadline = Deadline::after(1s),
                                                     .request_id = {client, sequence}});
      if (reply) break;
      ++errors_[std::string(to_string(reply.error().code()))];
      last_error_ = reply.error().to_string();
      if (!coroutine::sleep_for(50ms)) return;
    }
    ++acknowledged_[object];
    last_success_[client] = now();
  }
  void expect_nothing_lost() {
    for (const auto& [object, count] : acknowledged_) {
      const auto got = CounterClient(node_->router(), object).get({});
      ASSERT_TRUE(got) << got;
      EXPECT_EQ(got->value(), count) << object;
    }
  }
  void expect_all_served_since(TimePoint time) {
    EXPECT_EQ(last_success_.size(), static_cast<std::size_t>(client_count));
    for (const auto& [client, at] : last_success_) EXPECT_GE(at, time) << client;
  }
  // The fault begins after a second and lasts 30 s; then clients continue for a while.
  void run(const std::function<void()>& break_it, const std::function<void()>& mend_it) {
    begin();
    play(now() + 40s);
    ASSERT_TRUE(coroutine::sleep_for(1s));
    EXPECT_TRUE(errors_.empty());
    break_it();
    ASSERT_TRUE(coroutine::sleep_for(30s));
    mend_it();
    const TimePoint mended_at = now();
    ASSERT_TRUE(coroutine::sleep_for(recovery_time_max));
    expect_all_served_since(mended_at);
    ASSERT_TRUE(clients_.join(Deadline::never()));
    expect_nothing_lost();
    crash();
    begin();
    expect_nothing_lost();
    ASSERT_TRUE(node_->stop(Deadline::after(5s)));
  }

  test::Random random_;
  sim::SimulatedNetwork network_;
  MemoryStore table_;
  std::shared_ptr<FaultyStore> store_;
  std::unique_ptr<Node> node_;
  coroutine::TaskGroup clients_;
  std::map<std::string, std::int64_t> acknowledged_;  // By object.
  std::map<std::string, TimePoint> last_success_;     // By client.
  std::map<std::string, int> errors_;
  std::string last_error_;
  std::string warnings_;
};

TEST_F(StoreFaultsTest, AnUnreachableStoreLosesNothing) {
  run([this] { store_->cut(); }, [this] { store_->mend(); });
  EXPECT_GT(errors_["unavailable"], 0);
  EXPECT_THAT(last_error_, HasSubstr("the store is not available"));
}

TEST_F(StoreFaultsTest, AFullStoreLosesNothing) {
  run(
      [this] {
        store_->set_before_write([](const ObjectKey&) {
          return Result<void>(Error(Code::resource_exhausted, "the disk is full"));
        });
      },
      [this] { store_->set_before_write(nullptr); });
  EXPECT_GT(errors_["resource_exhausted"], 0);
  EXPECT_THAT(last_error_, HasSubstr("the store is full"));
}

TEST_F(StoreFaultsTest, AStoreThatLosesRepliesAppliesNothingTwice) {
  run(
      [this] {
        store_->set_after_write([this](const ObjectKey&) {
          if (random_.one_in(3)) return Result<void>();
          return Result<void>(Error(Code::unavailable, "the answer is lost"));
        });
      },
      [this] { store_->set_after_write(nullptr); });
  EXPECT_GT(errors_["unavailable"], 0);
  EXPECT_THAT(last_error_, HasSubstr("the store is not available"));
}

TEST_F(StoreFaultsTest, ChangesStoredAtTheEndOfTheNodeAreNotReportedAsLost) {
  begin();
  bool is_first = true;
  store_->set_before_write([&](const ObjectKey&) {
    return std::exchange(is_first, false) ? coroutine::sleep_for(1h) : Result<void>();
  });
  test::AddRequest one;
  one.set_amount(1);
  ASSERT_TRUE(CounterClient(node_->router(), "1").add(one));
  while (is_first) ASSERT_TRUE(coroutine::sleep_for(10ms));
  ASSERT_TRUE(node_->stop(Deadline::after(5s)));
  node_.reset();
  EXPECT_THAT(warnings_, testing::Not(HasSubstr("object not stored")));
  begin();
  EXPECT_EQ(CounterClient(node_->router(), "1").get({})->value(), 1);
}

TEST_F(StoreFaultsTest, AWaitingReaderSeesNoUnstoredChange) {
  begin();
  ASSERT_TRUE(CounterClient(node_->router(), "1").get({}));
  Result<test::CounterReply> told = Error(Code::unavailable, "no reply yet");
  ASSERT_TRUE(clients_.spawn("reader", [&] {
    test::WaitUntilRequest request;
    request.set_value(1);
    told = CounterClient(node_->router(), "1").await(request, {.deadline = Deadline::after(20s)});
  }));
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  bool is_full = true;
  store_->set_before_write([&](const ObjectKey&) {
    return is_full ? Result<void>(Error(Code::resource_exhausted, "full")) : Result<void>();
  });
  test::AddRequest request;
  request.set_amount(1);
  const auto added = CounterClient(node_->router(), "1").add_for_good(request);
  ASSERT_FALSE(added);
  ASSERT_TRUE(coroutine::sleep_for(5s));
  EXPECT_FALSE(told);
  is_full = false;
  ASSERT_TRUE(clients_.join(Deadline::never()));
  ASSERT_TRUE(told) << told;
  EXPECT_EQ(told->value(), 1);
  EXPECT_EQ(table_.look({.type = "corolane.test.Counter", .id = "1"}).object.version, 1U);
  ASSERT_TRUE(node_->stop(Deadline::after(5s)));
}

}  // namespace
}  // namespace corolane::framework
