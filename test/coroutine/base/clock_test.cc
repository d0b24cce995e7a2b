// SPDX-License-Identifier: MIT
#include "coroutine/base/clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace corolane {
namespace {

using namespace std::chrono_literals;

class StoppedClock final : public detail::TimeSource {
 public:
  explicit StoppedClock(TimePoint time) : time_(time) {}
  TimePoint now() const override { return time_; }

 private:
  TimePoint time_;
};

TEST(ClockTest, NowIsTheTimeOfTheSourceThatWasSetLast) {
  const StoppedClock first(TimePoint(3s));
  const StoppedClock second(TimePoint(5s));
  const detail::TimeSource* const outer = detail::set_thread_time_source(&first);
  EXPECT_EQ(now(), TimePoint(3s));
  EXPECT_EQ(detail::set_thread_time_source(&second), &first);
  EXPECT_EQ(now(), TimePoint(5s));
  EXPECT_EQ(detail::set_thread_time_source(outer), &second);
}

TEST(ClockTest, AThreadWithoutASourceHasTheSteadyClock) {
  TimePoint before;
  TimePoint there;
  TimePoint after;
  std::thread([&] {
    before = std::chrono::steady_clock::now();
    there = now();
    after = std::chrono::steady_clock::now();
  }).join();
  EXPECT_LE(before, there);
  EXPECT_LE(there, after);
}

}  // namespace
}  // namespace corolane
