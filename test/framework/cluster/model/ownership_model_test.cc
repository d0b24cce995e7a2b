// SPDX-License-Identifier: MIT
// Explores the model of ownership, as it is and with planted mistakes.
#include "test/framework/cluster/model/ownership_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coroutine/testing/sanitizers.h"

namespace corolane::model {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// The states are the same in each build, so a slow one explores only those near the beginning: for
// mistakes of the model itself.
bool explores_all() { return !test::under_slow_watch(); }

Explored explore_all(const OwnershipModel::Rules& rules) {
  const OwnershipModel model(rules);
  const std::size_t state_count_max = explores_all() ? 3'000'000 : 20'000;
  return explore(
      model.begin(), [&](const State& from, const auto& visit) { model.steps(from, visit); },
      state_count_max);
}

void expect_holds(const OwnershipModel::Rules& rules) {
  const Explored explored = explore_all(rules);
  EXPECT_EQ(explored.violation, "") << explored.trace;
  EXPECT_TRUE(explored.is_complete || !explores_all());
}

struct Planted {
  const char* name;
  Mistake mistake;
  const char* violation;  // That is found first.
  std::uint8_t revision_max = 4;
};

void expect_found(const Planted& planted, OwnershipModel::Rules rules) {
  SCOPED_TRACE(planted.name);
  rules.mistake = planted.mistake;
  rules.revision_max = planted.revision_max;
  const Explored explored = explore_all(rules);
  if (explored.violation.empty() && !explores_all()) return;
  EXPECT_EQ(explored.violation, planted.violation);
}

// The partition has up to two later owners.
constexpr OwnershipModel::Rules three_owners = {
    .revision_max = 5, .change_count = 1, .fault_count = 0};
// Any call or transaction may have an unknown outcome, or a node crashes.
constexpr OwnershipModel::Rules a_fault = {.revision_max = 4};

OwnershipModel::Rules by_store(OwnershipModel::Rules rules) {
  rules.serves_by_store = true;
  return rules;
}

TEST(OwnershipModelTest, ProtocolHoldsInEveryOrderOfEvents) {
  expect_holds(three_owners);
  expect_holds(a_fault);
}

TEST(OwnershipModelTest, EveryMistakeOfTheProtocolIsFound) {
  for (const Planted& planted : {
           Planted{"no seal", Mistake::no_seal, "I8"},
           Planted{"load before seal", Mistake::load_before_seal, "I8"},
           Planted{"write without epoch", Mistake::write_without_epoch, "I8"},
           Planted{"write without version", Mistake::write_without_version, "I3"},
           Planted{"reply before write", Mistake::reply_before_write, "I3"},
           Planted{"reply after fence", Mistake::reply_after_fence, "I1"},
           Planted{"fence after lease", Mistake::fence_after_lease, "I1"},
           Planted{"claim without compare", Mistake::claim_without_compare, "I1", 5},
           Planted{"hand-over without compare", Mistake::hand_over_without_compare, "I1", 5},
           Planted{"unknown hand-over read", Mistake::unknown_hand_over_read, "I1"},
       }) {
    expect_found(planted, {});
  }
}

TEST(OwnershipModelTest, ServingByTheStoreHoldsInEveryOrderOfEvents) {
  expect_holds(by_store(three_owners));
  expect_holds(by_store(a_fault));
}

TEST(OwnershipModelTest, NodeServesByTheStoreAndComesBackToItsLease) {
  constexpr OwnershipModel::Rules rules = {.revision_max = 4, .fault_count = 0};
  const Explored explored = explore_all(by_store(rules));
  EXPECT_THAT(explored.steps, Contains(OwnershipModel::proven_reply));
  EXPECT_THAT(explored.steps, Contains(OwnershipModel::return_to_lease));
  EXPECT_THAT(explore_all(rules).steps, Not(Contains(OwnershipModel::proven_reply)));
}

TEST(OwnershipModelTest, EveryMistakeOfServingByTheStoreIsFound) {
  for (const Planted& planted : {
           Planted{"no seal", Mistake::no_seal, "I1"},
           Planted{"reply without proof", Mistake::reply_without_proof, "I1"},
           Planted{"proof of an earlier call", Mistake::proof_of_earlier_call, "I1"},
           Planted{"proof without epoch", Mistake::proof_without_epoch, "I1"},
           Planted{"change not stored", Mistake::change_not_stored, "I3"},
           Planted{"late keepalive", Mistake::late_keepalive, "I1"},
           Planted{"no floor", Mistake::no_floor, "I1"},
       }) {
    expect_found(planted, {.serves_by_store = true, .fault_count = 0});
  }
}

// An object calls others, and publishes, without being asked.
TEST(OwnershipModelTest, MessagesNeedAProofAsRepliesDo) {
  const OwnershipModel::Rules rules = {.serves_by_store = true,
                                       .revision_max = 4,
                                       .change_count = 1,
                                       .fault_count = 0,
                                       .sends_messages = true};
  expect_holds(rules);
  expect_found({"message without proof", Mistake::message_without_proof, "I1"}, rules);
}

TEST(OwnershipModelTest, TransientObjectsRestUntilTheLeaseIsValidAgain) {
  const OwnershipModel::Rules rules = {.serves_by_store = true, .is_transient = true};
  expect_holds(rules);
  expect_found({"transient served", Mistake::transient_served, "I1"}, rules);
}

// What a replica may do that is promoted. A lease does not depend on it.
TEST(OwnershipModelTest, ServingByTheStoreNeedsAStoreThatForgetsNoSeal) {
  OwnershipModel::Rules rules = {
      .revision_max = 4, .change_count = 0, .fault_count = 0, .lost_seal_count = 1};
  expect_holds(rules);
  expect_found({"a lost seal", Mistake::none, "I1"}, by_store(rules));
}

TEST(OwnershipModelTest, CounterexampleIsAShortReadableTrace) {
  const Explored explored =
      explore_all({.serves_by_store = true, .mistake = Mistake::reply_without_proof});
  EXPECT_THAT(explored.trace, HasSubstr("A passes its fence\n      A key 1 past its fence"));
  EXPECT_LE(explored.depth, 8U) << explored.trace;
}

}  // namespace
}  // namespace corolane::model
