// SPDX-License-Identifier: MIT
#include "framework/objects/detail/request_ledger.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "coroutine/testing/matchers.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

constexpr std::uint64_t add_method = 7;
constexpr std::uint64_t take_method = 8;
constexpr WallTime start{std::chrono::hours(480'000)};

rpc::RequestId id_of(std::string_view caller, std::uint64_t sequence, std::string_view scope = {}) {
  return {.caller = caller, .sequence = sequence, .scope = scope};
}

void load(RequestLedger& ledger, const ObjectRecord& record, WallTime now) {
  for (const AppliedCaller& caller : record.callers()) ledger.load(caller, now);
}

class RequestLedgerTest : public testing::Test {
 protected:
  void add(std::string_view caller, std::uint64_t sequence, const std::string& reply = "done") {
    ledger_.add(id_of(caller, sequence), add_method, reply, now_);
  }
  Result<const std::string*> find(std::string_view caller, std::uint64_t sequence) const {
    return ledger_.find(id_of(caller, sequence), add_method, now_);
  }
  // "new", the first reply, or the code of the error.
  std::string seen(std::string_view caller, std::uint64_t sequence) const {
    const auto found = find(caller, sequence);
    if (!found) return std::string(to_string(found.error().code()));
    return *found == nullptr ? "new" : **found;
  }
  ObjectRecord stored() const {
    std::string bytes;
    ledger_.append_to(bytes);
    ObjectRecord record;
    EXPECT_TRUE(record.ParseFromString(bytes));
    return record;
  }

  WallTime now_ = start;
  RequestLedger ledger_{{.horizon = 10min, .caller_count_max = 100, .reply_bytes_max = 1'000}};
};

TEST_F(RequestLedgerTest, GivesTheFirstReplyAgain) {
  EXPECT_EQ(seen("ada", 1), "new");
  add("ada", 1, "first");
  EXPECT_EQ(seen("ada", 1), "first");
  EXPECT_EQ(seen("ada", 2), "new");
  EXPECT_EQ(seen("bob", 1), "new");
}

TEST_F(RequestLedgerTest, RefusesACallThatIsOlderThanTheLastOne) {
  add("ada", 5);
  const auto found = find("ada", 4);
  ASSERT_THAT(found, fails_with(Code::failed_precondition));
  EXPECT_TRUE(found.error().maybe_executed());
}

TEST_F(RequestLedgerTest, AnOlderCallOfACallerInOrderHasTakenEffect) {
  RequestLedger ledger(RequestLedger::Options::of_outboxes());
  ledger.add(id_of("game", 5, "outbox"), add_method, "", now_);
  const auto found = ledger.find(id_of("game", 4, "outbox"), take_method, now_ + 23h);
  ASSERT_TRUE(found) << found.error();
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ(**found, "");
  EXPECT_EQ(*ledger.find(id_of("game", 6, "outbox"), add_method, now_), nullptr);
}

TEST_F(RequestLedgerTest, KeepsTheLaterOfTwoThatEndInTheOtherOrder) {
  add("ada", 6, "sixth");
  add("ada", 5, "fifth");
  EXPECT_EQ(seen("ada", 6), "sixth");
  EXPECT_EQ(seen("ada", 5), "failed_precondition");
}

TEST_F(RequestLedgerTest, RefusesTheIdOfACallOfAnotherMethod) {
  add("ada", 1);
  const auto found = ledger_.find(id_of("ada", 1), take_method, now_);
  ASSERT_THAT(found, fails_with(Code::invalid_argument));
  EXPECT_TRUE(found.error().not_executed());
}

TEST_F(RequestLedgerTest, DistinguishesEqualNamesOfDifferentScopes) {
  ledger_.add(id_of("ada", 1, "scope of client a"), add_method, "a", now_);
  ledger_.add(id_of("ada", 9, "scope of client b"), add_method, "b", now_);
  ledger_.add(id_of("ada", 3), add_method, "cluster", now_);
  EXPECT_EQ(**ledger_.find(id_of("ada", 1, "scope of client a"), add_method, now_), "a");
  EXPECT_EQ(**ledger_.find(id_of("ada", 9, "scope of client b"), add_method, now_), "b");
  EXPECT_EQ(**ledger_.find(id_of("ada", 3), add_method, now_), "cluster");
  // A scope is not a prefix of a name.
  EXPECT_EQ(*ledger_.find(id_of("scope of client aada", 1), add_method, now_), nullptr);
  EXPECT_EQ(*ledger_.find(id_of("a", 1, "scope of client aad"), add_method, now_), nullptr);
}

TEST_F(RequestLedgerTest, ForgetsNoCallerBecauseOthersCall) {
  for (int i = 0; i < 100; ++i) add("caller " + std::to_string(i), 1, std::to_string(i));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(seen("caller " + std::to_string(i), 1), std::to_string(i));
}

TEST_F(RequestLedgerTest, RefusesANewCallerInsteadOfForgettingOne) {
  for (int i = 0; i < 100; ++i) add("caller " + std::to_string(i), 1);
  now_ += 4min;
  const auto found = find("one more", 1);
  ASSERT_THAT(found, fails_with(Code::resource_exhausted));
  EXPECT_TRUE(found.error().not_executed());
  EXPECT_EQ(found.error().retry_after(), 6min);
  // Known callers continue.
  EXPECT_EQ(seen("caller 0", 1), "done");
  EXPECT_EQ(seen("caller 0", 2), "new");
}

// They have taken effect by then, so nothing of them may be forgotten.
TEST_F(RequestLedgerTest, KeepsAllCallsThatFoundTheLastFreePlaceAtOnce) {
  for (int i = 0; i < 99; ++i) add("caller " + std::to_string(i), 1);
  EXPECT_EQ(seen("ada", 1), "new");
  EXPECT_EQ(seen("bob", 1), "new");
  add("ada", 1, "of ada");
  add("bob", 1, "of bob");
  EXPECT_EQ(ledger_.caller_count(), 101U);
  EXPECT_EQ(seen("ada", 1), "of ada");
  EXPECT_EQ(seen("bob", 1), "of bob");
  EXPECT_EQ(seen("caller 0", 1), "done");
  EXPECT_EQ(seen("eve", 1), "resource_exhausted");
}

TEST_F(RequestLedgerTest, HasRoomAgainWhenTheOldestIsPastTheHorizon) {
  for (int i = 0; i < 100; ++i) {
    add("caller " + std::to_string(i), 1);
    now_ += 1s;
  }
  now_ = start + 10min;
  EXPECT_EQ(seen("one more", 1), "new");
  add("one more", 1);
  EXPECT_EQ(ledger_.caller_count(), 100U);
  EXPECT_EQ(seen("caller 0", 1), "resource_exhausted");
  EXPECT_EQ(seen("caller 1", 1), "done");
}

TEST_F(RequestLedgerTest, ForgetsByTheTimeOfTheLastCall) {
  add("ada", 1);
  add("bob", 1);
  now_ += 9min;
  add("ada", 2);
  now_ += 2min;
  add("eve", 1);
  EXPECT_EQ(seen("ada", 2), "done");
  EXPECT_EQ(seen("bob", 1), "new");
}

TEST_F(RequestLedgerTest, ForgetsTheOldestRepliesAndNeverThatACallTookEffect) {
  const std::string large(400, 'x');
  add("ada", 1, large);
  add("bob", 1, large);
  add("eve", 1, large);
  const auto found = find("ada", 1);
  ASSERT_THAT(found, fails_with(Code::failed_precondition));
  EXPECT_TRUE(found.error().maybe_executed());
  EXPECT_EQ(seen("bob", 1), large);
  EXPECT_EQ(seen("eve", 1), large);
  // The newest reply stays, whatever its size.
  add("ivy", 1, std::string(5'000, 'y'));
  EXPECT_EQ(seen("ivy", 1), std::string(5'000, 'y'));
  EXPECT_EQ(seen("eve", 1), "failed_precondition");
}

TEST_F(RequestLedgerTest, MovesFromOwnerToOwner) {
  ledger_.add(id_of("ada", 3, "scope"), add_method, "of ada", now_);
  add("bob", 4, "of bob");
  add("eve", 5, "");
  RequestLedger next;
  load(next, stored(), now_ + 1min);
  EXPECT_EQ(**next.find(id_of("ada", 3, "scope"), add_method, now_), "of ada");
  EXPECT_EQ(**next.find(id_of("bob", 4), add_method, now_), "of bob");
  EXPECT_EQ(**next.find(id_of("eve", 5), add_method, now_), "");
  EXPECT_THAT(next.find(id_of("bob", 4), take_method, now_), fails_with(Code::invalid_argument));
  EXPECT_EQ(next.bytes(), ledger_.bytes());
  std::string bytes;
  next.append_to(bytes);
  ObjectRecord record;
  ASSERT_TRUE(record.ParseFromString(bytes));
  EXPECT_EQ(record.SerializeAsString(), stored().SerializeAsString());
}

TEST_F(RequestLedgerTest, AForgottenReplyStaysForgottenOnTheNextOwner) {
  add("ada", 1, std::string(900, 'x'));
  add("bob", 1, std::string(900, 'x'));
  RequestLedger next;
  load(next, stored(), now_);
  EXPECT_THAT(next.find(id_of("ada", 1), add_method, now_), fails_with(Code::failed_precondition));
}

// Its limit may be lower there.
TEST_F(RequestLedgerTest, TheNextOwnerForgetsTheOldestRepliesFirst) {
  for (const char* caller : {"ada", "bob", "eve"}) add(caller, 1, std::string(300, 'x'));
  RequestLedger next({.horizon = 10min, .reply_bytes_max = 700});
  load(next, stored(), now_);
  next.add(id_of("ivy", 1), add_method, std::string(300, 'x'), now_);
  for (const char* caller : {"ada", "bob"}) {
    EXPECT_THAT(next.find(id_of(caller, 1), add_method, now_),
                fails_with(Code::failed_precondition));
  }
  EXPECT_TRUE(next.find(id_of("eve", 1), add_method, now_));
  EXPECT_TRUE(next.find(id_of("ivy", 1), add_method, now_));
}

TEST_F(RequestLedgerTest, KeepsTheTimeOfAClockThatWasSlightlyAhead) {
  now_ += 20s;
  add("ada", 1);
  RequestLedger next;
  load(next, stored(), start);
  std::string bytes;
  next.append_to(bytes);
  ObjectRecord record;
  ASSERT_TRUE(record.ParseFromString(bytes));
  EXPECT_EQ(record.SerializeAsString(), stored().SerializeAsString());
}

TEST_F(RequestLedgerTest, ClampsAClockThatWasFarAhead) {
  now_ += 24h;
  add("ada", 1);
  RequestLedger next({.horizon = 10min});
  load(next, stored(), start);
  next.add(id_of("bob", 1), add_method, "", start + 9min);
  EXPECT_NE(*next.find(id_of("ada", 1), add_method, start + 9min), nullptr);
  next.add(id_of("bob", 2), add_method, "", start + 10min);
  EXPECT_EQ(*next.find(id_of("ada", 1), add_method, start + 10min), nullptr);
}

TEST_F(RequestLedgerTest, ReadsTheFormatOfEarlierVersions) {
  ObjectRecord record;
  AppliedCaller& caller = *record.add_callers();
  caller.set_caller("ada");
  caller.set_last(9);
  for (const std::uint64_t sequence : {9UL, 8UL}) {
    AppliedReply& reply = *caller.add_replies();
    reply.set_sequence(sequence);
    reply.set_reply("reply " + std::to_string(sequence));
  }
  load(ledger_, record, now_);
  EXPECT_EQ(seen("ada", 9), "reply 9");
  EXPECT_EQ(seen("ada", 8), "failed_precondition");
  EXPECT_EQ(seen("ada", 10), "new");
  // The time of these entries is unknown: it counts from now.
  now_ += 9min;
  add("bob", 1);
  EXPECT_EQ(seen("ada", 9), "reply 9");
  now_ += 2min;
  add("bob", 2);
  EXPECT_EQ(seen("ada", 9), "new");
}

TEST_F(RequestLedgerTest, CountsItsBytes) {
  EXPECT_EQ(ledger_.bytes(), 0U);
  add("ada", 1, std::string(500, 'x'));
  const std::size_t of_one = ledger_.bytes();
  EXPECT_GE(of_one, 503U);
  add("ada", 2, "");
  EXPECT_EQ(ledger_.bytes(), of_one - 500);
  now_ += 1h;
  add("bob", 1, "");
  EXPECT_EQ(ledger_.bytes(), of_one - 500);
}

TEST(RequestIdTest, IsRefusedWhenItsCallerIsTooLong) {
  EXPECT_TRUE(check_request_id(id_of(std::string(64, 'x'), 1, std::string(16, 's'))));
  EXPECT_THAT(check_request_id(id_of(std::string(65, 'x'), 1)), fails_with(Code::invalid_argument));
  EXPECT_THAT(check_request_id(id_of("ada", 1, std::string(17, 's'))),
              fails_with(Code::invalid_argument));
}

}  // namespace
}  // namespace corolane::framework::detail
