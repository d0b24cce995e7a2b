// Whom the CPU time of a thread is charged to. It is real time, however virtual the scheduler's:
// so nothing here is said of its length but that it fits what the kernel says.
#include "coroutine/detail/cpu_meter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

// More than several ticks of any kernel.
constexpr Duration burst = 60ms;
constexpr Duration tick_max = 10ms;

Duration thread_cpu() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void compute(Duration cpu) {
  const Duration end = thread_cpu() + cpu;
  while (thread_cpu() < end) {
  }
}

Duration cpu_of(const Scheduler& scheduler, std::string_view task_name) {
  for (const TaskInfo& task : scheduler.tasks()) {
    if (task.name == task_name) return task.cpu;
  }
  ADD_FAILURE() << "no task " << task_name;
  return {};
}

Duration cpu_of_site(const Scheduler& scheduler, std::string_view task_name) {
  for (const SpawnSite& site : scheduler.sites()) {
    if (site.task_name == task_name) return site.cpu;
  }
  ADD_FAILURE() << "no site of " << task_name;
  return {};
}

// Runs `main` in a scheduler of its own on a thread of its own.
void on_own_thread(const std::function<void(Scheduler&)>& main, Scheduler::Options options = {}) {
  std::thread([&] {
    VirtualTime time;
    Scheduler scheduler(time, std::move(options));
    EXPECT_TRUE(scheduler.run("main", [&] { main(scheduler); }));
  }).join();
}

class CpuMeterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Scheduler::current().statistics().measures_cpu) GTEST_SKIP() << "signals come too late";
  }
};

TEST_F(CpuMeterTest, WhoComputesIsChargedAndWhoWaitsIsNot) {
  on_own_thread([](Scheduler& scheduler) {
    auto busy = spawn("busy", [] {
      for (int i = 0; i < 10; ++i) {
        compute(burst / 10);
        EXPECT_TRUE(sleep_for(1ms));
      }
    });
    auto idle = spawn("idle", [] {
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(sleep_for(1ms));
    });
    while (!busy.is_done()) EXPECT_TRUE(sleep_for(1ms));
    EXPECT_GE(cpu_of(scheduler, "busy"), burst - 2 * tick_max);
    EXPECT_LE(cpu_of(scheduler, "idle"), tick_max);
    EXPECT_EQ(cpu_of_site(scheduler, "busy"), cpu_of(scheduler, "busy"));
    EXPECT_TRUE(busy.join());
    EXPECT_TRUE(idle.join());
  });
}

TEST_F(CpuMeterTest, ASiteIsChargedForAllOfItsTasks) {
  on_own_thread([](Scheduler& scheduler) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(spawn("one of ten", [] { compute(burst / 10); }).join());
    }
    EXPECT_GE(cpu_of_site(scheduler, "one of ten"), burst - 2 * tick_max);
  });
}

TEST_F(CpuMeterTest, TheLoopIsChargedForWhatRunsOnIt) {
  on_own_thread([](Scheduler& scheduler) {
    scheduler.post([] { compute(burst); });
    EXPECT_TRUE(sleep_for(1ms));
    EXPECT_GE(scheduler.statistics().loop_cpu, burst - 2 * tick_max);
    EXPECT_LE(cpu_of(scheduler, "main"), tick_max);
  });
}

TEST_F(CpuMeterTest, AllThatIsChargedIsWhatTheThreadConsumed) {
  on_own_thread([](Scheduler& scheduler) {
    const Duration before = thread_cpu();
    compute(3 * burst);
    const Duration charged = scheduler.statistics().loop_cpu + cpu_of(scheduler, "main");
    const Duration consumed = thread_cpu();
    EXPECT_LE(charged, consumed);
    EXPECT_GE(charged, consumed - before - 2 * tick_max);
  });
}

TEST_F(CpuMeterTest, InASchedulerInsideATaskItsOwnTasksAreCharged) {
  on_own_thread([](Scheduler& outer) {
    VirtualTime time;
    Scheduler inner(time);
    EXPECT_TRUE(inner.run("inner", [] { compute(burst); }));
    EXPECT_GE(cpu_of_site(inner, "inner"), burst - 2 * tick_max);
    EXPECT_LE(cpu_of(outer, "main"), tick_max);
  });
}

TEST_F(CpuMeterTest, SwitchedOffItChargesNobody) {
  on_own_thread(
      [](Scheduler& scheduler) {
        EXPECT_FALSE(scheduler.statistics().measures_cpu);
        compute(burst);
        EXPECT_EQ(cpu_of(scheduler, "main"), 0ns);
      },
      {.cpu_sample_interval = 0ns});
}

TEST_F(CpuMeterTest, AfterTheRunTheThreadIsLeftAlone) {
  on_own_thread([](Scheduler&) {});
  std::thread([] {
    VirtualTime time;
    Scheduler scheduler(time);
    EXPECT_TRUE(scheduler.run("main", [] { compute(burst); }));
    const Duration charged = cpu_of_site(scheduler, "main");
    compute(burst);
    std::raise(SIGURG);  // From somebody else.
    EXPECT_EQ(cpu_of_site(scheduler, "main"), charged);
    EXPECT_FALSE(scheduler.statistics().measures_cpu);
  }).join();
}

// A signal frame with all registers takes several KiB: none of it may lie on a task's stack.
TEST_F(CpuMeterTest, TheStackOfTheTaskThatIsChargedIsNotUsed) {
  on_own_thread(
      [](Scheduler& scheduler) {
        EXPECT_TRUE(spawn("quiet", [] {}).join());
        EXPECT_TRUE(spawn("charged", [] { compute(burst); }).join());
        EXPECT_GT(cpu_of_site(scheduler, "charged"), 0ns);
        std::size_t quiet = 0;
        std::size_t charged = 0;
        for (const SpawnSite& site : scheduler.sites()) {
          if (site.task_name == "quiet") quiet = site.stack_used_bytes_max;
          if (site.task_name == "charged") charged = site.stack_used_bytes_max;
        }
        EXPECT_LE(charged, quiet + 512);
      },
      {.stack_sample_interval = 1});
}

}  // namespace
}  // namespace corolane::coroutine
