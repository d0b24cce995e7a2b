// SPDX-License-Identifier: MIT
// The attribution of a thread's CPU time. It is real time, even with a virtual scheduler clock: so
// the tests only compare it with the kernel's figures.
#include "coroutine/detail/cpu_meter.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "coroutine/async/async.h"
#include "coroutine/interrupter.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

// Longer than several ticks of any kernel.
constexpr Duration burst = 60ms;

Duration thread_cpu() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// On a busy machine the ticks may fall into the time slices of other threads for long, and be
// charged late.
void compute_until(const std::function<bool()>& done) {
  while (!done()) {
  }
}
void compute(Duration cpu) {
  compute_until([end = thread_cpu() + cpu] { return thread_cpu() >= end; });
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

TEST_F(CpuMeterTest, AComputingTaskIsChargedAndAWaitingTaskIsNot) {
  on_own_thread([](Scheduler& scheduler) {
    auto idle = spawn("idle", [] {
      while (sleep_for(1ms)) {
      }
    });
    auto busy = spawn("busy", [&] {
      while (cpu_of(scheduler, "busy") < burst) {
        compute(1ms);
        EXPECT_TRUE(sleep_for(1ms));
      }
    });
    while (!busy.is_done()) EXPECT_TRUE(sleep_for(1ms));
    EXPECT_LT(cpu_of(scheduler, "idle"), cpu_of(scheduler, "busy"));
    EXPECT_EQ(cpu_of_site(scheduler, "busy"), cpu_of(scheduler, "busy"));
    EXPECT_TRUE(busy.join(Deadline::never()));
  });
}

Async<void> compute_stackless(std::function<bool()> done) {
  compute_until(done);
  co_return co_await until(Deadline::after(1ms));
}

TEST_F(CpuMeterTest, TheAwaitingTaskIsChargedForAStacklessCoroutine) {
  on_own_thread([](Scheduler& scheduler) {
    EXPECT_TRUE(await(compute_stackless([&] { return cpu_of(scheduler, "main") >= burst; })));
  });
}

TEST_F(CpuMeterTest, ASpawnSiteIsChargedForAllOfItsTasks) {
  on_own_thread([](Scheduler& scheduler) {
    Duration cpu{};
    while (cpu < burst) {
      auto task = spawn("one of many", [] { compute(5ms); });
      while (!task.is_done()) EXPECT_TRUE(sleep_for(1ms));
      cpu += cpu_of(scheduler, "one of many");
      EXPECT_TRUE(task.join(Deadline::never()));
    }
    EXPECT_EQ(cpu_of_site(scheduler, "one of many"), cpu);
  });
}

TEST_F(CpuMeterTest, TheLoopIsChargedForWhatRunsOnIt) {
  on_own_thread([](Scheduler& scheduler) {
    scheduler.post(
        [&] { compute_until([&] { return scheduler.statistics().loop_cpu >= burst; }); });
    EXPECT_TRUE(sleep_for(1ms));
    EXPECT_LT(cpu_of(scheduler, "main"), scheduler.statistics().loop_cpu);
  });
}

TEST_F(CpuMeterTest, NoMoreIsChargedThanTheThreadConsumed) {
  on_own_thread([](Scheduler& scheduler) {
    const auto charged = [&] {
      return scheduler.statistics().loop_cpu + cpu_of(scheduler, "main");
    };
    // The consumed time is read last, since the machine may pause in between. The last tick may
    // also have come a moment early.
    for (Duration seen = charged(); seen < burst; seen = charged()) {
      EXPECT_LE(seen, thread_cpu() + 1ms);
    }
  });
}

TEST_F(CpuMeterTest, AllCpuTimeOfTheThreadIsChargedInTheEnd) {
  on_own_thread([](Scheduler& scheduler) {
    constexpr Duration tick_max = burst / 6;
    const Duration before = thread_cpu();
    Duration behind{};
    compute_until([&] {
      const Duration consumed = thread_cpu() - before;
      behind = consumed - cpu_of(scheduler, "main");
      return (consumed >= burst && behind < tick_max) || consumed >= 100 * burst;
    });
    EXPECT_LT(behind, tick_max);
  });
}

// The kernel keeps one pending signal of a kind, and drops that of the request.
TEST_F(CpuMeterTest, ATimerSignalAnswersARequestWhoseSignalWasDropped) {
  on_own_thread([](Scheduler& scheduler) {
    sigset_t timers = {};
    sigaddset(&timers, SIGURG);
    pthread_sigmask(SIG_BLOCK, &timers, nullptr);
    compute_until([&] {
      sigset_t pending = {};
      sigpending(&pending);
      return sigismember(&pending, SIGURG) == 1;
    });
    std::atomic<bool> is_asking = false;
    std::optional<Interruption> answer;
    std::jthread asking([&] {
      is_asking = true;
      answer = scheduler.interrupt(10s);
    });
    compute_until([&] { return is_asking.load(); });
    compute(20ms);
    pthread_sigmask(SIG_UNBLOCK, &timers, nullptr);
    asking.join();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->task_name, "main");
  });
}

TEST_F(CpuMeterTest, AnInterruptionKeepsErrno) {
  on_own_thread([](Scheduler& scheduler) {
    static std::atomic<bool> has_noted = false;
    has_noted = false;
    std::jthread asking([&] {
      EXPECT_TRUE(scheduler.interrupt(10s, [](std::span<char>) -> std::size_t {
        errno = EBADF;
        has_noted = true;
        return 0;
      }));
    });
    errno = ENOENT;
    while (!has_noted) {
    }
    EXPECT_EQ(errno, ENOENT);
  });
}

TEST_F(CpuMeterTest, ASchedulerInsideATaskChargesItsOwnTasks) {
  on_own_thread([](Scheduler& outer) {
    VirtualTime time;
    Scheduler inner(time);
    const auto ran =
        inner.run("inner", [&] { compute_until([&] { return cpu_of(inner, "inner") >= burst; }); });
    EXPECT_TRUE(ran);
    EXPECT_LT(cpu_of(outer, "main"), cpu_of_site(inner, "inner"));
  });
}

TEST_F(CpuMeterTest, AMeterThatIsSwitchedOffChargesNoTask) {
  on_own_thread(
      [](Scheduler& scheduler) {
        EXPECT_FALSE(scheduler.statistics().measures_cpu);
        compute(burst);
        EXPECT_EQ(cpu_of(scheduler, "main"), 0ns);
      },
      {.cpu_sample_interval = 0ns});
}

TEST_F(CpuMeterTest, TheThreadIsNotMeasuredAfterTheRun) {
  std::thread([] {
    VirtualTime time;
    Scheduler scheduler(time);
    EXPECT_TRUE(scheduler.run("main", [] {}));
    const Duration charged = cpu_of_site(scheduler, "main");
    compute(burst);
    std::raise(SIGURG);  // From another sender.
    EXPECT_EQ(cpu_of_site(scheduler, "main"), charged);
    EXPECT_FALSE(scheduler.statistics().measures_cpu);
  }).join();
}

#if defined(COROLANE_ASAN)

// Several times as many frames as AddressSanitizer keeps of one size.
constexpr int many_frames = 100'000;

[[gnu::noinline]] void use_frame() {
  std::array<char, 1000> mine;
  // Keeps the compiler from optimising it away.
  asm volatile("" : : "r"(mine.data()) : "memory");
}

// With detect_stack_use_after_return, locals live outside the stack. After an exception, the next
// function frees those that belong below its own place on the stack.
[[gnu::noinline]] void expect_that_a_signal_keeps_locals_after_an_exception() {
  std::array<char, 1000> mine;
  asm volatile("" : : "r"(mine.data()) : "memory");
  __asan_handle_no_return();
  ASSERT_EQ(syscall(SYS_tgkill, getpid(), gettid(), SIGURG), 0);
  for (int i = 0; i < many_frames; ++i) use_frame();
  EXPECT_EQ(__asan_region_is_poisoned(mine.data(), mine.size()), nullptr);
}

TEST_F(CpuMeterTest, ASignalAfterAnExceptionKeepsTheLocalsOfItsTask) {
  if (__asan_get_current_fake_stack() == nullptr) {
    GTEST_SKIP() << "needs ASAN_OPTIONS=detect_stack_use_after_return=1";
  }
  expect_that_a_signal_keeps_locals_after_an_exception();
}

#else

// A signal frame with all registers takes KiB: it must not lie on a task's stack.
TEST_F(CpuMeterTest, TheHandlerDoesNotUseTheStackOfTheChargedTask) {
  const auto stack_used_while = [](Duration charged) {
    std::size_t used = 0;
    on_own_thread([&](Scheduler& scheduler) {
      auto task = spawn("computes", [&] {
        compute_until([&] {
          return scheduler.statistics().loop_cpu + cpu_of(scheduler, "computes") >= charged;
        });
      });
      EXPECT_TRUE(task.join(Deadline::never()));
      for (const SpawnSite& site : scheduler.sites()) {
        if (site.task_name == "computes") used = site.stack_used_bytes_max;
      }
    });
    return used;
  };
  EXPECT_LE(stack_used_while(burst), stack_used_while(0ns) + 512);
}

#endif

}  // namespace
}  // namespace corolane::coroutine
