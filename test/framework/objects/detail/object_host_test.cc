// SPDX-License-Identifier: MIT
#include "framework/objects/detail/object_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/sanitizers.h"
#include "framework/routing/detail/object_router.h"
#include "framework/store/memory_store.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/detail/object_error.h"
#include "framework/wire/objects.pb.h"
#include "net/testing/network.h"
#include "test/framework/counter_shard.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/store/faulty_store.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::AddRequest;
using test::Counter;
using test::fails_with;
using test::wait_request;
using Shard = test::CounterShard;
using testing::HasSubstr;

class NoReply final : public rpc::Messages {
 public:
  Result<void> reply(google::protobuf::Message&) override { return {}; }
  Result<void> write(const google::protobuf::Message&) override { return {}; }
};

class ObjectHostTest : public testing::Test {
 protected:
  MemoryStore table_;
  test::FaultyStore store_{table_};
};

TEST_F(ObjectHostTest, KeepsAStateForEachId) {
  Shard shard(store_, 1);
  EXPECT_EQ(shard.counter("a").add(add_request(2))->value(), 2);
  EXPECT_EQ(shard.counter("b").add(add_request(3))->value(), 3);
  EXPECT_EQ(shard.counter("a").add(add_request(2))->value(), 4);
  EXPECT_EQ(shard.host.statistics().active_count, 2U);
}

TEST_F(ObjectHostTest, OneCallAtATimeChangesAnObject) {
  Shard shard(store_, 1);
  std::vector<coroutine::Task<test::CounterReply>> calls;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(
        coroutine::spawn("call", [&] { return shard.counter("a").add(add_request(1, 3ms)); }));
  }
  std::int64_t expected = 0;
  for (auto& call : calls) EXPECT_EQ(call.join(Deadline::never())->value(), ++expected);
}

TEST_F(ObjectHostTest, ReadersOverlap) {
  Shard shard(store_, 1);
  ASSERT_TRUE(shard.counter("a").add(add_request(1)));
  test::GetRequest request;
  request.set_pause_milliseconds(100);
  const TimePoint start = now();
  std::vector<coroutine::Task<test::CounterReply>> calls;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(coroutine::spawn("call", [&] { return shard.counter("a").get(request); }));
  }
  for (auto& call : calls) EXPECT_EQ(call.join(Deadline::never())->value(), 1);
  EXPECT_EQ(now() - start, 100ms);
}

TEST_F(ObjectHostTest, AFullMailboxRefuses) {
  Shard shard(store_, 1, {.mailbox_max = 2});
  auto first = coroutine::spawn("call", [&] { return shard.counter("a").add(add_request(1, 1s)); });
  auto second = coroutine::spawn("call", [&] { return shard.counter("a").add(add_request(1)); });
  auto third = coroutine::spawn("call", [&] { return shard.counter("a").add(add_request(1)); });
  const auto refused = third.join(Deadline::never());
  ASSERT_THAT(refused, fails_with(Code::resource_exhausted));
  EXPECT_GT(refused.error().retry_after(), 0ms);
  EXPECT_TRUE(first.join(Deadline::never()));
  EXPECT_EQ(second.join(Deadline::never())->value(), 2);
}

TEST_F(ObjectHostTest, NestedCallsCarryThePrincipal) {
  Shard shard(store_, 1);
  test::AddAlongRequest request;
  for (const char* id : {"b", "who"}) request.add_ids(id);
  const rpc::Principal player{.id = "player-17"};
  const auto told = shard.counter("a").add_along(request, {.principal = &player});
  EXPECT_EQ(told.error().message(), "you are player-17");
  EXPECT_EQ(shard.counter("a").add_along(request).error().message(), "you are ");
}

TEST_F(ObjectHostTest, ACycleIsRefusedAtOnceAndNamed) {
  Shard shard(store_, 1);
  test::AddAlongRequest request;
  for (const char* id : {"b", "c", "a"}) request.add_ids(id);
  const TimePoint start = now();
  const auto refused = shard.counter("a").add_along(request);
  ASSERT_THAT(refused, fails_with(Code::failed_precondition));
  EXPECT_THAT(refused.error().message(), HasSubstr("corolane.test.Counter/AddAlong(\"a\") -> "
                                                   "corolane.test.Counter/AddAlong(\"b\") -> "
                                                   "corolane.test.Counter/AddAlong(\"c\") -> "
                                                   "corolane.test.Counter/AddAlong(\"a\")"));
  EXPECT_EQ(now() - start, 0ms);
}

TEST_F(ObjectHostTest, WaitingReadersDoNotFillTheMailboxOfWriters) {
  Shard shard(store_, 1, {.mailbox_max = 2});
  ASSERT_TRUE(shard.counter("a").add(add_request(1)));
  std::vector<coroutine::Task<test::CounterReply>> readers;
  for (int i = 0; i < 2; ++i) {
    readers.push_back(
        coroutine::spawn("reader", [&] { return shard.counter("a").await(wait_request(2)); }));
  }
  ASSERT_TRUE(coroutine::yield());
  EXPECT_THAT(shard.counter("a").get(test::GetRequest()), fails_with(Code::resource_exhausted))
      << "one reader more";
  EXPECT_EQ(shard.counter("a").add(add_request(1))->value(), 2);
  for (auto& reader : readers) EXPECT_TRUE(reader.join(Deadline::never()));
  EXPECT_TRUE(shard.counter("a").get(test::GetRequest()));
}

// Calls of puppets that wait for `event` without their turns.
std::vector<coroutine::Task<test::RunReply>> wait_for_event(test::PuppetStage& stage, int count) {
  std::vector<coroutine::Task<test::RunReply>> calls;
  for (int i = 0; i < count; ++i) {
    calls.push_back(coroutine::spawn("waits", [&] { return stage.puppet("a").run({}); }));
  }
  return calls;
}

TEST_F(ObjectHostTest, CallsThatWaitForAnEventDoNotFillTheMailboxOfOthers) {
  coroutine::Event event("a second seeker");
  bool waits = true;
  const test::Puppet::Strings strings{.run = [&](test::Puppet& puppet) -> Result<void> {
    return waits ? puppet.wait_for(event, Deadline::after(1min)) : Result<void>();
  }};
  test::PuppetStage stage(store_, strings, 1, {.mailbox_max = 3});
  auto calls = wait_for_event(stage, 3);
  ASSERT_TRUE(coroutine::sleep_for(1ms));

  const auto one_more = stage.puppet("a").run({});
  ASSERT_THAT(one_more, fails_with(Code::resource_exhausted)) << "of those that wait";
  EXPECT_GT(one_more.error().retry_after(), 0ms);
  waits = false;
  EXPECT_TRUE(stage.puppet("a").run({}));
  event.pulse();
  for (auto& call : calls) EXPECT_TRUE(call.join(Deadline::never()));
  waits = true;
  EXPECT_THAT(stage.puppet("a").run({}, {.deadline = Deadline::after(1ms)}),
              fails_with(Code::deadline_exceeded))
      << "there is room again";
}

TEST_F(ObjectHostTest, ALongIdIsRefusedBeforeAnythingIsCreatedOrStored) {
  Shard shard(store_, 1);
  const std::string longest(object_id_bytes_max, 'x');
  EXPECT_TRUE(shard.counter(longest).add(add_request(1)));
  const std::string too_long = longest + "x";
  EXPECT_THAT(shard.counter(too_long).add(add_request(1)), fails_with(Code::invalid_argument));
  EXPECT_THAT(shard.counter(too_long).get({}), fails_with(Code::invalid_argument));
  EXPECT_THAT(shard.counter(too_long).add_quietly(add_request(1)),
              fails_with(Code::invalid_argument));
  // The same call over a connection.
  const rpc::ObjectTarget target{.id = too_long};
  const rpc::Context::Facts facts{.object = &target};
  rpc::Context context(*Counter::object_type().methods.begin(), AddRequest::default_instance(),
                       facts);
  NoReply sink;
  HostedType& type = *shard.host.find_type("corolane.test.Counter");
  EXPECT_THAT(shard.host.serve_or_send_on(type, type.method(0), AddRequest(), context, sink),
              fails_with(Code::invalid_argument));
  EXPECT_EQ(shard.host.statistics().active_count, 1U);
  EXPECT_EQ(store_.seal_count, 1);
}

TEST_F(ObjectHostTest, AChainRunsUpToItsMaximumLength) {
  Shard shard(store_, 1);
  test::AddAlongRequest request;
  for (int i = 1; i < 300; ++i) request.add_ids(std::to_string(i));
  const auto refused = shard.counter("0").add_along(request);
  ASSERT_THAT(refused, fails_with(Code::failed_precondition));
  EXPECT_THAT(refused.error().message(), HasSubstr("more than 256 calls"));
  EXPECT_EQ(shard.host.statistics().active_count, CallChain::length_max);
}

TEST_F(ObjectHostTest, ALongerChainIsRefusedOnArrival) {
  Shard shard(store_, 1);
  const std::vector<rpc::ObjectCall> chain(CallChain::length_max + 1);
  const auto serve = [&](std::span<const rpc::ObjectCall> calls) {
    const rpc::ObjectTarget target{.id = "a", .chain = calls};
    const rpc::Context::Facts facts{.object = &target};
    rpc::Context context(*Counter::object_type().methods.begin(), AddRequest::default_instance(),
                         facts);
    NoReply sink;
    HostedType& type = *shard.host.find_type("corolane.test.Counter");
    return shard.host.serve_or_send_on(type, type.method(0), AddRequest(), context, sink);
  };
  EXPECT_THAT(serve(chain), fails_with(Code::failed_precondition));
  EXPECT_TRUE(coroutine::spawn("call", [&] {
                return serve(std::span(chain).first(256));
              }).join(Deadline::never()));
}

// Keeps nothing, so that the resident memory is the host's.
class EmptyStore final : public MemoryStore {
 public:
  Result<StoredObject> seal(const ObjectKey&, std::uint64_t, Deadline) override {
    return StoredObject();
  }
  Result<void> release(const ObjectKey&, std::uint64_t, Deadline) override { return {}; }
  Result<void> write(const ObjectKey&, std::uint64_t, std::uint64_t, const ObjectWrite&,
                     Deadline) override {
    return {};
  }
};

double resident_bytes() {
  malloc_trim(0);  // Otherwise freed memory would be reused first.
  std::ifstream statm("/proc/self/statm");
  double all_pages = 0;
  double resident_pages = 0;
  statm >> all_pages >> resident_pages;
  return resident_pages * static_cast<double>(getpagesize());
}

// The memory that the host reports for its objects, as a share of the growth of this process.
double measured_share(std::size_t id_bytes) {
  constexpr int count = 100'000;
  EmptyStore store;
  Shard shard(store, 1);
  EXPECT_TRUE(shard.counter("first").get({}));
  const std::size_t measured_before = shard.host.statistics().memory_bytes;
  const double resident_before = resident_bytes();
  for (int i = 0; i < count; ++i) {
    std::string id = std::to_string(i);
    id.append(id_bytes - id.size(), 'x');
    EXPECT_TRUE(shard.counter(std::move(id)).get({}));
  }
  const double resident = resident_bytes() - resident_before;
  const std::size_t measured = shard.host.statistics().memory_bytes - measured_before;
  return static_cast<double>(measured) / resident;
}

// The kernel counts the pages of a busy process late now and then.
double usual_share(std::size_t id_bytes) {
  std::array<double, 3> shares{};
  for (double& share : shares) share = measured_share(id_bytes);
  std::ranges::sort(shares);
  return shares[1];
}

TEST_F(ObjectHostTest, TheMemoryOfAnObjectIncludesItsId) {
  if (test::under_sanitizer || test::under_valgrind()) {
    GTEST_SKIP() << "needs the allocator of the C library";
  }
  EXPECT_NEAR(usual_share(5), 1, 0.1);
  EXPECT_NEAR(usual_share(250), 1, 0.1);
}

TEST_F(ObjectHostTest, ADurableChangeIsStoredBeforeItsReply) {
  Shard first(store_, 1);
  ASSERT_TRUE(first.counter("a").add_for_good(add_request(5)));
  Shard second(store_, 2);
  EXPECT_EQ(second.counter("a").get({})->value(), 5);
}

TEST_F(ObjectHostTest, AnyChangeIsStoredWithinASecond) {
  Shard first(store_, 1);
  ASSERT_TRUE(first.counter("a").add(add_request(5)));
  ASSERT_TRUE(coroutine::sleep_for(900ms));
  Shard second(store_, 2);
  EXPECT_EQ(second.counter("a").get({})->value(), 5);
}

TEST_F(ObjectHostTest, APastOwnerIsRefusedAndChangesNothing) {
  Shard first(store_, 1);
  ASSERT_TRUE(first.counter("a").add_for_good(add_request(5)));
  Shard second(store_, 2);
  ASSERT_TRUE(second.counter("a").add_for_good(add_request(1)));
  EXPECT_THAT(first.counter("a").add_for_good(add_request(7)), fails_with(Code::aborted));
  EXPECT_THAT(first.counter("a").get({}), fails_with(Code::aborted));
  EXPECT_EQ(second.counter("a").get({})->value(), 6);
}

TEST_F(ObjectHostTest, AFencedNodeAnswersNoCall) {
  Shard shard(store_, 1);
  ASSERT_TRUE(shard.counter("a").add(add_request(5)));
  shard.fence.set(now() + 10ms);
  EXPECT_TRUE(shard.counter("a").get({}));
  const auto late = shard.counter("a").add(add_request(5, 20ms));
  ASSERT_THAT(late, fails_with(Code::aborted));
  EXPECT_TRUE(late.error().maybe_executed());
  const auto later = shard.counter("a").get({});
  ASSERT_THAT(later, fails_with(Code::aborted));
  EXPECT_FALSE(later.error().maybe_executed());
}

TEST_F(ObjectHostTest, AnUnstoredChangeIsHiddenUntilItIsStored) {
  Shard shard(store_, 1);
  ASSERT_TRUE(shard.counter("a").add_for_good(add_request(1)));
  store_.cut();
  const auto failed = shard.counter("a").add_for_good(add_request(1));
  ASSERT_THAT(failed, fails_with(Code::unavailable));
  EXPECT_TRUE(failed.error().maybe_executed());
  const auto hidden = shard.counter("a").get({});
  ASSERT_THAT(hidden, fails_with(Code::unavailable));
  EXPECT_FALSE(hidden.error().maybe_executed());
  ASSERT_TRUE(coroutine::sleep_for(30s));
  store_.mend();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_EQ(shard.counter("a").get({})->value(), 2);
  Shard next(store_, 2);
  EXPECT_EQ(next.counter("a").get({})->value(), 2);
}

TEST_F(ObjectHostTest, ALostReplyOfTheStoreIsResolved) {
  Shard shard(store_, 1);
  store_.loses_answers_of_writes = true;
  const auto failed = shard.counter("a").add_for_good(add_request(1));
  ASSERT_THAT(failed, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(failed.error().maybe_executed());
  store_.loses_answers_of_writes = false;
  EXPECT_EQ(shard.counter("a").add_for_good(add_request(1))->value(), 2);
  Shard next(store_, 2);
  EXPECT_EQ(next.counter("a").get({})->value(), 2);
}

TEST_F(ObjectHostTest, CountsWhatHappensToTheObjectsOfAType) {
  Shard shard(store_, 1, {.mailbox_max = 1, .idle_time_max = 1min});
  ASSERT_TRUE(shard.counter("a").add_for_good(add_request(1)));
  ASSERT_TRUE(shard.counter("b").add(add_request(1)));
  auto slow =
      coroutine::spawn("slow", [&] { return shard.counter("a").add(add_request(1, 10ms)); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  EXPECT_FALSE(shard.counter("a").add(add_request(1)));
  ASSERT_TRUE(slow.join(Deadline::never()));
  ObjectStatistics counted = shard.host.types()[0]->statistics();
  EXPECT_EQ(counted.active_count, 2U);
  EXPECT_EQ(counted.unsaved_count, 2U);
  EXPECT_EQ(counted.call_count, 4U);
  EXPECT_EQ(counted.refused_count, 1U);
  EXPECT_EQ(counted.activation_count, 2U);
  EXPECT_EQ(counted.save_count, 1U);
  EXPECT_GT(counted.memory_bytes, 0U);

  store_.cut();
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_GT(shard.host.statistics().failed_save_count, 0U);
  EXPECT_EQ(shard.host.statistics().save_count, 1U);
  store_.mend();
  ASSERT_TRUE(coroutine::sleep_for(2min));
  counted = shard.host.statistics();
  EXPECT_EQ(counted.active_count, 0U);
  EXPECT_EQ(counted.unsaved_count, 0U);
  EXPECT_EQ(counted.memory_bytes, 0U);
  EXPECT_EQ(counted.save_count, 3U);
  EXPECT_EQ(counted.deactivation_count, 2U);

  ASSERT_TRUE(shard.counter("a").get({}));
  shard.fence.set(now());
  EXPECT_FALSE(shard.counter("a").get({}, {.deadline = Deadline::after(10ms)}));
  EXPECT_GT(shard.host.statistics().moved_count, 0U);
}

TEST_F(ObjectHostTest, CallsThatWaitForAnEventDelayNoOther) {
  Shard shard(store_, 1);
  std::vector<coroutine::Task<test::CounterReply>> calls;
  for (int i = 1; i <= 20; ++i) {
    calls.push_back(
        coroutine::spawn("call", [&, i] { return shard.counter("a").await(wait_request(i)); }));
  }
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(shard.counter("a").add(add_request(1)));
  for (int i = 1; i <= 20; ++i) {
    const auto reply = calls[static_cast<std::size_t>(i - 1)].join(Deadline::never());
    ASSERT_TRUE(reply) << reply;
    EXPECT_GE(reply->value(), i);
  }
}

TEST_F(ObjectHostTest, ACallThatWaitsForAnEventEndsAtItsDeadline) {
  Shard shard(store_, 1);
  const auto reply = shard.counter("a").await(wait_request(1), {.deadline = Deadline::after(1s)});
  EXPECT_THAT(reply, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(shard.counter("a").add(add_request(1)));
}

TEST_F(ObjectHostTest, AMoveOfAnotherObjectDoesNotRetryThisCall) {
  int run_count = 0;
  test::Puppet::Strings strings;
  strings.run = [&](test::Puppet&) -> Result<void> {
    ++run_count;
    return moved_error("corolane.test.Other", "b",
                       {.partition = 3, .node_epoch = 2, .partition_epoch = 2});
  };
  test::PuppetStage stage(store_, strings);
  EXPECT_THAT(stage.puppet("a").run({}), fails_with(Code::aborted));
  EXPECT_EQ(run_count, 1);
}

TEST_F(ObjectHostTest, ALateHandlerIsCancelledAndItsCallerContinues) {
  Shard shard(store_, 1);
  const TimePoint start = now();
  const auto reply =
      shard.counter("a").add(add_request(1, 1h), {.deadline = Deadline::after(100ms)});
  EXPECT_THAT(reply, fails_with(Code::deadline_exceeded));
  EXPECT_TRUE(reply.error().maybe_executed());
  EXPECT_EQ(now() - start, 100ms);
  EXPECT_TRUE(coroutine::yield());
  EXPECT_TRUE(shard.counter("a").add(add_request(1)));
}

TEST_F(ObjectHostTest, AOneWayCallIsExecuted) {
  Shard shard(store_, 1);
  ASSERT_TRUE(shard.counter("a").add_quietly(add_request(5)));
  EXPECT_EQ(shard.counter("a").get({})->value(), 5);
}

TEST_F(ObjectHostTest, CallsOfOneCallerReachTheObjectInTheirOrder) {
  std::vector<std::string> begun;
  test::Puppet::Strings strings;
  strings.run = [&](test::Puppet&) -> Result<void> {
    begun.push_back("call");
    return {};
  };
  strings.run_alone = [&](test::Puppet&) -> Result<void> {
    begun.push_back("one-way call");
    return {};
  };
  test::PuppetStage stage(store_, strings);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(stage.puppet("a").run_alone({}));
    ASSERT_TRUE(stage.puppet("a").run({}));
  }
  EXPECT_THAT(begun, testing::ElementsAre("one-way call", "call", "one-way call", "call",
                                          "one-way call", "call"));
}

TEST_F(ObjectHostTest, ReadOnlyCallsStoreNothing) {
  Shard shard(store_, 1, {.unsaved_count_max = 1});
  ASSERT_TRUE(shard.counter("a").add(add_request(1)));
  store_.delay = 10ms;
  auto read = [&] { return shard.counter("a").get({}); };
  auto one = coroutine::spawn("call", read);
  auto other = coroutine::spawn("call", read);
  for (auto* call : {&one, &other}) {
    const auto got = call->join(Deadline::never());
    ASSERT_TRUE(got) << got;
    EXPECT_EQ(got->value(), 1);
  }
  EXPECT_EQ(store_.write_count, 0);
}

TEST_F(ObjectHostTest, AOneWayCalleeMayCallBack) {
  coroutine::Event is_back("whoever was sent for");
  test::Puppet::Strings strings;
  strings.run = [&](test::Puppet& puppet) -> Result<void> {
    if (auto sent = test::PuppetClient(puppet.router(), "b").run_alone({}); !sent) return sent;
    return puppet.wait_for(is_back, Deadline::after(1s));
  };
  strings.run_alone = [&](test::Puppet& puppet) -> Result<void> {
    const auto looked = test::PuppetClient(puppet.router(), "a").look({});
    if (!looked) return looked.error();
    is_back.set();
    return {};
  };
  test::PuppetStage stage(store_, strings);
  const auto ran = stage.puppet("a").run({});
  EXPECT_TRUE(ran) << ran;
}

}  // namespace
}  // namespace corolane::framework::detail
