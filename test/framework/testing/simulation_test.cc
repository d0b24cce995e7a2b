// SPDX-License-Identifier: MIT
// Hosts share one thread and simulated time.
#include "framework/testing/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/wait_queue.h"
#include "framework/testing/host.h"
#include "net/crypto.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

bool has_ended(const Host& host) { return !host.is_alive(); }

TEST(SimulationTest, TimePassesWhenEveryHostWaits) {
  Simulation simulation({.seed = 1});
  Host& host = simulation.add_host("host");
  Duration slept{};
  host.start([&] {
    const TimePoint start = now();
    EXPECT_TRUE(coroutine::sleep_for(24h));
    slept = now() - start;
  });
  simulation.run_for(23h);
  EXPECT_TRUE(host.is_alive());
  simulation.run_for(1h);
  EXPECT_TRUE(simulation.run_until([&] { return has_ended(host); }, simulation.now() + 1s));
  EXPECT_GE(slept, 24h);
  EXPECT_LT(slept, 24h + 1ms);
}

TEST(SimulationTest, AKilledHostUnwindsItsTasksAndMayStartAgain) {
  Simulation simulation({.seed = 1});
  Host& host = simulation.add_host("host");
  bool is_unwound = false;
  struct Guard {
    bool& flag;
    ~Guard() { flag = true; }
  };
  host.start([&] {
    const Guard guard{is_unwound};
    static_cast<void>(coroutine::sleep_for(1h));
  });
  simulation.run_for(1s);
  host.kill();
  EXPECT_TRUE(is_unwound);
  EXPECT_FALSE(host.is_alive());
  host.start([] {});
  EXPECT_EQ(host.life(), 2u);
}

TEST(SimulationTest, AMessageForAnEarlierLifeDoesNotReachTheNext) {
  Simulation simulation({.seed = 1});
  Host& host = simulation.add_host("host");
  const auto wait = [] { static_cast<void>(coroutine::sleep_for(1h)); };
  host.start(wait);
  bool is_reached = false;
  simulation.at(simulation.now() + 1s, host, [&] { is_reached = true; });
  host.kill();
  host.start(wait);
  simulation.run_for(2s);
  EXPECT_FALSE(is_reached);
}

TEST(SimulationTest, AThreadHasTheClockAndTheDeathOfItsProcess) {
  Simulation simulation({.seed = 1});
  Host& process = simulation.add_host("host");
  Host& thread = process.thread(1);
  EXPECT_EQ(&thread.process(), &process);
  EXPECT_EQ(&process.thread(1), &thread);
  TimePoint of_thread{};
  std::vector<std::string> ends;
  process.start([&] {
    coroutine::WaitQueue thread_ended("the end of a thread");
    coroutine::Event stop("the end of the process");
    thread.start(
        [&] {
          of_thread = now();
          static_cast<void>(stop.wait(Deadline::never()));
          ends.emplace_back("thread");
        },
        [&] { process.post([&] { thread_ended.notify_all(); }); });
    EXPECT_TRUE(coroutine::sleep_for(1ms));
    EXPECT_GE(now(), of_thread);
    EXPECT_LT(now() - of_thread, 2ms);
    EXPECT_FALSE(coroutine::sleep_for(1h)) << "it is killed";
    thread.post([&] { stop.set(); });
    while (ends.empty()) thread_ended.wait(Deadline::never(), coroutine::Cancellation::ignore);
    ends.emplace_back("process");
  });
  simulation.run_for(1s);
  EXPECT_TRUE(thread.is_alive());
  EXPECT_FALSE(process.is_running());
  process.kill();
  EXPECT_FALSE(thread.is_alive());
  EXPECT_THAT(ends, ElementsAre("thread", "process"));
  process.start([&] { thread.start([] {}); });
  simulation.run_for(1s);
  EXPECT_EQ(thread.life(), 2U);
  EXPECT_FALSE(thread.is_alive()) << "a thread may end before its process";
}

TEST(SimulationTest, AThreadPausesWithItsProcess) {
  Simulation simulation({.seed = 1});
  Host& process = simulation.add_host("host");
  Duration late{};
  process.start([&] {
    process.thread(1).start([&] {
      const TimePoint due = now() + 1s;
      EXPECT_TRUE(coroutine::sleep_until(Deadline::at(due)));
      late = now() - due;
    });
    EXPECT_TRUE(coroutine::sleep_for(15s));
  });
  simulation.run_for(500ms);
  process.pause_until(simulation.now() + 10s);
  simulation.run_for(20s);
  EXPECT_GE(late, 9s);
}

TEST(SimulationTest, APausedHostResumesInATurnWithAStaleTime) {
  Simulation simulation({.seed = 1});
  Host& host = simulation.add_host("host");
  const auto age_of_turn = [] { return now() - coroutine::Scheduler::current().turn_time(); };
  Duration late{};
  Duration age_of_next_turn{};
  host.start([&] {
    const TimePoint due = now() + 1s;
    EXPECT_TRUE(coroutine::sleep_until(Deadline::at(due)));
    late = now() - due;
    age_of_next_turn = age_of_turn();
  });
  simulation.run_for(500ms);
  host.pause_until(simulation.now() + 10s);
  Duration age_of_first_turn{};
  simulation.at(simulation.now() + 1s, host, [&] { age_of_first_turn = age_of_turn(); });
  simulation.run_for(20s);
  EXPECT_GE(age_of_first_turn, 10s) << "the pause came between the clock and the work";
  EXPECT_LT(age_of_first_turn, 10s + 1ms);
  EXPECT_LT(age_of_next_turn, 1ms);
  EXPECT_GE(late, 9s);
  EXPECT_LT(late, 10s);
}

TEST(SimulationTest, ADriftingClockAffectsItsHostAlone) {
  Simulation simulation({.seed = 1});
  Host& fast = simulation.add_host("fast");
  Host& right = simulation.add_host("right");
  TimePoint fast_end{};
  TimePoint right_end{};
  const auto sleep = [&](TimePoint& end) {
    return [&] {
      EXPECT_TRUE(coroutine::sleep_for(100s));
      end = simulation.now();
    };
  };
  const TimePoint start = simulation.now();
  fast.set_drift(100'000);
  fast.start(sleep(fast_end));
  right.start(sleep(right_end));
  simulation.run_for(200s);
  EXPECT_NEAR(std::chrono::duration<double>(fast_end - start).count(), 100 / 1.1, 0.01);
  EXPECT_NEAR(std::chrono::duration<double>(right_end - start).count(), 100, 0.01);
}

// Returns the hash of a run of two hosts that exchange messages and draw random bytes.
std::uint64_t hash_of(std::uint64_t seed) {
  Simulation simulation({.seed = seed});
  Host& a = simulation.add_host("a");
  Host& b = simulation.add_host("b");
  int answers = 0;
  const auto main = [&](Host& other) {
    return [&] {
      for (int i = 0; i < 50; ++i) {
        std::array<std::byte, 8> bytes{};
        net::fill_with_random_bytes(bytes);
        simulation.trace().mix(static_cast<std::uint64_t>(bytes[0]));
        simulation.at(simulation.now() + 1ms, other, [&] { ++answers; });
        EXPECT_TRUE(coroutine::sleep_for(1ms));
        simulation.trace().mix(static_cast<std::uint64_t>(answers));
      }
    };
  };
  a.start(main(b));
  b.start(main(a));
  simulation.run_for(1s);
  return simulation.trace().hash();
}

TEST(SimulationTest, ASeedDecidesEverything) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::uint64_t hash = hash_of(seed);
    EXPECT_EQ(hash_of(seed), hash);
    hashes.insert(hash);
  }
  EXPECT_EQ(hashes.size(), 20u);
}

}  // namespace
}  // namespace corolane::sim
