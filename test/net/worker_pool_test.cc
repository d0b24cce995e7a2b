// SPDX-License-Identifier: MIT
// run_blocking() in virtual time: its results, and when they arrive.
#include "net/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "net/testing/worker_pool.h"

namespace corolane::net {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;

TEST(RunBlockingTest, ReturnsWhatTheFunctionReturned) {
  sim::SimulatedWorkerPool pool({.job_time = 5ms});
  const TimePoint start = now();
  EXPECT_EQ(run_blocking(pool, [] { return 42; }, Deadline::never()).value_or(0), 42);
  EXPECT_EQ(now() - start, 5ms);

  auto moved = run_blocking(pool, [] { return std::make_unique<int>(7); }, Deadline::never());
  ASSERT_TRUE(moved) << moved;
  EXPECT_EQ(**moved, 7);

  bool has_run = false;
  EXPECT_TRUE(run_blocking(pool, [&] { has_run = true; }, Deadline::never()));
  EXPECT_TRUE(has_run);
}

TEST(RunBlockingTest, AResultIsNotWrappedTwice) {
  sim::SimulatedWorkerPool pool;
  const Result<int> good = run_blocking(pool, []() -> Result<int> { return 1; }, Deadline::never());
  EXPECT_EQ(good.value_or(0), 1);
  const auto fail = []() -> Result<void> { return Error(Code::not_found, "no such file"); };
  const Result<void> bad = run_blocking(pool, fail, Deadline::never());
  EXPECT_THAT(bad, fails_with(Code::not_found));
}

TEST(RunBlockingTest, AnExceptionBecomesInternal) {
  sim::SimulatedWorkerPool pool;
  const auto thrown = run_blocking(
      pool, []() -> int { throw std::runtime_error("disk on fire"); }, Deadline::never());
  ASSERT_THAT(thrown, fails_with(Code::internal));
  EXPECT_THAT(thrown.error().message(), HasSubstr("disk on fire"));
  const auto odd = run_blocking(pool, []() -> int { throw 7; }, Deadline::never());
  EXPECT_THAT(odd, fails_with(Code::internal));
}

TEST(RunBlockingTest, EndsAtItsDeadlineAndByCancellation) {
  sim::SimulatedWorkerPool pool({.job_time = 1h});
  const TimePoint start = now();
  EXPECT_THAT(
      run_blocking(pool, [] {}, Deadline::after(10ms)), fails_with(Code::deadline_exceeded));
  EXPECT_EQ(now() - start, 10ms);
  auto waiting =
      coroutine::spawn("waiting", [&] { return run_blocking(pool, [] {}, Deadline::never()); });
  ASSERT_TRUE(coroutine::sleep_for(1ms));
  waiting.cancel();
  EXPECT_THAT(waiting.join(Deadline::never()), fails_with(Code::cancelled));
  EXPECT_EQ(now() - start, 11ms);
}

TEST(RunBlockingTest, OneJobTooManyIsRefused) {
  sim::SimulatedWorkerPool pool({.job_count_max = 2});
  std::vector<coroutine::Task<void>> jobs;
  for (int number = 0; number < 2; ++number) {
    jobs.push_back(
        coroutine::spawn("job", [&] { return run_blocking(pool, [] {}, Deadline::never()); }));
  }
  ASSERT_TRUE(coroutine::yield());
  EXPECT_THAT(run_blocking(pool, [] {}, Deadline::never()), fails_with(Code::resource_exhausted));
  for (auto& job : jobs) EXPECT_TRUE(job.join(Deadline::never()));
  EXPECT_TRUE(run_blocking(pool, [] {}, Deadline::never()));
}

}  // namespace
}  // namespace corolane::net
