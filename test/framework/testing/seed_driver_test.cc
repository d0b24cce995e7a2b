// SPDX-License-Identifier: MIT
// Options of a command line, the first failing seed, and what a process reports.
#include "framework/testing/seed_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/testing/matchers.h"
#include "framework/testing/detail/outcome.h"
#include "framework/testing/detail/seed_processes.h"
#include "framework/testing/simulated_run.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::HasSubstr;
using testing::StartsWith;

TEST(SeedOptionsTest, ReplaceAPartOfThePlan) {
  DriveOptions options;
  for (const auto& [name, value] :
       {std::pair("--seeds", "3..9"), std::pair("--seconds", "12"), std::pair("--nodes", "4"),
        std::pair("--clients", "40"), std::pair("--faults", "crash,reset"),
        std::pair("--jobs", "2"), std::pair("--in-order", ""), std::pair("--trace", "t")}) {
    const auto set = set_option(options, name, value);
    EXPECT_TRUE(set) << set;
  }
  EXPECT_EQ(options.seeds.first, 3u);
  EXPECT_EQ(options.seeds.last, 9u);
  EXPECT_EQ(options.length, 12s);
  EXPECT_EQ(options.node_count, 4u);
  EXPECT_EQ(options.client_count, 40u);
  EXPECT_EQ(options.faults->size(), 2u);
  EXPECT_EQ(options.job_count, 2u);
  EXPECT_EQ(options.trace, "t");
  EXPECT_TRUE(options.is_in_order);
}

TEST(SeedOptionsTest, AWrongValueIsNamed) {
  DriveOptions options;
  for (const auto& [name, value] :
       {std::pair("--seeds", "9..3"), std::pair("--seeds", "1..x"), std::pair("--seconds", "7"),
        std::pair("--nodes", "0"), std::pair("--rain", "1")}) {
    const auto set = set_option(options, name, value);
    ASSERT_THAT(set, fails_with(Code::invalid_argument)) << name;
    EXPECT_THAT(set.error().message(), HasSubstr(name));
  }
}

TEST(SeedOptionsTest, TheReplayCommandHasTheWholePlan) {
  DriveOptions options;
  options.command = "check";
  RunPlan plan{.seed = 7, .length = 20s, .node_count = 3, .client_count = 4};
  plan.faults = *find_faults("crash,reset");
  plan.faults.push_back({.name = "own", .path = "my/own.yaml"});
  EXPECT_EQ(replay_command(plan, options),
            "check --seeds 7 --seconds 20 --nodes 3 --clients 4 --faults crash,reset,my/own.yaml "
            "--trace trace.txt");
  plan.faults.clear();
  plan.shuffles = false;
  EXPECT_THAT(replay_command(plan, options), HasSubstr(" --faults none --in-order "));
}

TEST(SeedDriverTest, TheFirstFailingSeedIsFoundWhicheverEndsFirst) {
  const Scenario scenario = [](SimulatedRun& run) {
    if (run.plan().seed == 5) {
      // Ends long after the later seed that fails, too.
      volatile std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < 50'000'000; ++i) sum = sum + i;
    }
    if (run.plan().seed >= 5) run.violated("seed " + std::to_string(run.plan().seed));
  };
  DriveOptions options;
  options.seeds = {.first = 1, .last = 40};
  options.job_count = 4;
  const auto failure = first_failure(scenario, RunPlan(), options);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->seed, 5u);
  EXPECT_EQ(failure->violation, "seed 5");
  options.seeds.last = 4;
  EXPECT_FALSE(first_failure(scenario, RunPlan(), options));
}

TEST(SeedDriverTest, AProcessThatDiesFailsItsSeed) {
  const Scenario scenario = [](SimulatedRun& run) {
    if (run.plan().seed == 2) std::_Exit(3);
  };
  const auto failure = first_failure(scenario, RunPlan(), DriveOptions{});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->seed, 2u);
  EXPECT_THAT(failure->violation, StartsWith("the process exited with status 3"));
}

TEST(SeedProcessesTest, AProcessThatNeverEndsIsEnded) {
  SeedProcesses processes(1, 1s);
  processes.start(
      1,
      []() -> std::string {
        for (volatile bool forever = true; forever;) {
        }
        return "";
      },
      /*is_quiet=*/true);
  const auto ended = processes.next();
  ASSERT_TRUE(ended);
  EXPECT_THAT(ended->death, StartsWith("a run takes longer than 1 s of real time"));
  EXPECT_FALSE(processes.next());
}

// Descriptors above 1023, which select() could not wait for.
class HighDescriptors {
 public:
  HighDescriptors() {
    rlimit limit{};
    check(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "the limit of descriptors is known");
    limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, 2'048);
    check(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "a test may have 2,048 descriptors");
    while (descriptors_.empty() || descriptors_.back() < 1'100) {
      descriptors_.push_back(::dup(STDOUT_FILENO));
    }
  }
  ~HighDescriptors() {
    for (const int descriptor : descriptors_) ::close(descriptor);
  }
  HighDescriptors(const HighDescriptors&) = delete;
  HighDescriptors& operator=(const HighDescriptors&) = delete;

 private:
  std::vector<int> descriptors_;
};

TEST(SeedProcessesTest, LargeReportsArriveThroughHighDescriptors) {
  const HighDescriptors taken;
  SeedProcesses processes(3, 60s);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_TRUE(processes.has_room());
    processes.start(seed, [seed] { return std::string(100'000, static_cast<char>('a' + seed)); });
  }
  EXPECT_FALSE(processes.has_room());
  for (int i = 0; i < 3; ++i) {
    const auto ended = processes.next();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->death, "");
    EXPECT_EQ(ended->report, std::string(100'000, static_cast<char>('a' + ended->seed)));
  }
}

TEST(OutcomeTest, IsTheSameAfterItsWayThroughText) {
  const SeedOutcome outcome{.seed = 7,
                            .violation = "I3 \"a\": \n",
                            .ran_twice = true,
                            .simulated = 3s,
                            .took = 5ms,
                            .counts = {{"faults", 9}},
                            .marks = {{"it rains", true}, {"it snows", false}},
                            .moments = {{"bid, during step 1", 2}}};
  const SeedOutcome read = outcome_of(to_text(outcome));
  EXPECT_EQ(read.seed, outcome.seed);
  EXPECT_EQ(read.violation, outcome.violation);
  EXPECT_EQ(read.ran_twice, outcome.ran_twice);
  EXPECT_EQ(read.simulated, outcome.simulated);
  EXPECT_EQ(read.took, outcome.took);
  EXPECT_EQ(read.counts, outcome.counts);
  EXPECT_EQ(read.marks, outcome.marks);
  EXPECT_EQ(read.moments, outcome.moments);
}

TEST(ViolationTest, ItsKindIsItsInvariant) {
  EXPECT_EQ(kind_of("I3 table 1: ply 4 is not stored"), "I3");
  EXPECT_EQ(kind_of("gold is conserved: I5 the sum has changed by 3"), "I5");
  EXPECT_EQ(kind_of("gold is conserved: 3 are missing"), "gold is conserved");
  EXPECT_EQ(kind_of("no colon"), "no colon");
}

}  // namespace
}  // namespace corolane::sim
