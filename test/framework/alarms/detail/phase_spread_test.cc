// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/phase_spread.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint first_ask{1h};

TEST(PhaseSpreadTest, TheObjectsOfABurstDivideTheInterval) {
  PhaseSpread phases;
  const std::array<int, 4> objects{};
  EXPECT_EQ(phases.next(&objects[0], 1024ms, first_ask), 0ms);
  EXPECT_EQ(phases.next(&objects[1], 1024ms, first_ask), 512ms);
  EXPECT_EQ(phases.next(&objects[2], 1024ms, first_ask + 1ms), 256ms);
  EXPECT_EQ(phases.next(&objects[3], 1024ms, first_ask + 1ms), 768ms);
}

TEST(PhaseSpreadTest, TheTimersOfOneObjectShareAPhase) {
  PhaseSpread phases;
  const std::array<int, 2> objects{};
  EXPECT_EQ(phases.next(&objects[0], 1024ms, first_ask), 0ms);
  EXPECT_EQ(phases.next(&objects[0], 1024ms, first_ask), 0ms);
  EXPECT_EQ(phases.next(&objects[1], 1024ms, first_ask), 512ms);
  EXPECT_EQ(phases.next(&objects[1], 1024ms, first_ask), 512ms);
}

TEST(PhaseSpreadTest, AfterAQuietIntervalTheFirstObjectHasNoPhase) {
  PhaseSpread phases;
  const std::array<int, 2> objects{};
  EXPECT_EQ(phases.next(&objects[0], 1024ms, first_ask), 0ms);
  EXPECT_EQ(phases.next(&objects[1], 1024ms, first_ask + 1025ms), 0ms);
}

TEST(PhaseSpreadTest, ManyIntervalsInUseKeepTheirPhases) {
  PhaseSpread phases;
  const std::array<int, 2> objects{};
  for (int number = 1; number <= 64; ++number) {
    EXPECT_EQ(phases.next(&objects[0], number * 1024ms, first_ask), 0ms);
  }
  for (int number = 1; number <= 64; ++number) {
    EXPECT_EQ(phases.next(&objects[1], number * 1024ms, first_ask), number * 512ms);
  }
}

TEST(PhaseSpreadTest, AnIntervalOfAYearIsDividedExactly) {
  PhaseSpread phases;
  const std::array<int, 2> objects{};
  EXPECT_EQ(phases.next(&objects[0], 1024 * 24h, first_ask), 0ms);
  EXPECT_EQ(phases.next(&objects[1], 1024 * 24h, first_ask), 512 * 24h);
}

}  // namespace
}  // namespace corolane::framework::detail
