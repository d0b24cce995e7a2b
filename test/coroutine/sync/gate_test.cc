// SPDX-License-Identifier: MIT
#include "coroutine/sync/gate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <utility>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

TEST(GateTest, LetsInUntilItIsClosed) {
  Gate gate;
  {
    const auto pass = gate.enter();
    EXPECT_TRUE(pass);
    EXPECT_EQ(gate.inside_count(), 1u);
  }
  EXPECT_EQ(gate.inside_count(), 0u);
  EXPECT_TRUE(gate.close(Deadline::passed()));
  EXPECT_TRUE(gate.is_closed());
  EXPECT_THAT(gate.enter(), fails_with(Code::unavailable));
}

TEST(GateTest, ClosingWaitsForThoseInside) {
  Gate gate;
  const TimePoint start = now();
  auto call = spawn("call", [pass = gate.enter()] { return sleep_for(2s); });
  EXPECT_THAT(gate.close(Deadline::after(1s)), fails_with(Code::deadline_exceeded));
  EXPECT_THAT(gate.enter(), fails_with(Code::unavailable));
  EXPECT_TRUE(gate.close(Deadline::never()));
  EXPECT_EQ(now() - start, 2s);
  EXPECT_TRUE(call.join());
}

TEST(GateTest, CancellationEndsTheWaitAndLeavesTheGateClosed) {
  Gate gate;
  auto pass = gate.enter();
  auto closer = spawn("closer", [&] { return gate.close(Deadline::never()); });
  EXPECT_TRUE(yield());
  closer.cancel();
  EXPECT_THAT(closer.join(), fails_with(Code::cancelled));
  EXPECT_TRUE(gate.is_closed());
}

TEST(GateTest, APassMoves) {
  Gate gate;
  Gate other_gate;
  auto pass = *gate.enter();
  auto other_pass = *other_gate.enter();
  pass = std::move(other_pass);
  EXPECT_EQ(gate.inside_count(), 0u);
  EXPECT_EQ(other_gate.inside_count(), 1u);
}

TEST(GateDeathTest, AGateIsDestroyedOnlyWhenNoCallIsInside) {
  const auto leave_late = [] {
    std::optional<Gate> gate(std::in_place);
    const auto pass = gate->enter();
    gate.reset();
  };
  EXPECT_DEATH(leave_late(), "no call is inside a gate that is destroyed");
}

}  // namespace
}  // namespace corolane::coroutine
