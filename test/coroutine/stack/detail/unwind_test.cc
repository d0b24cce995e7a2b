// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/unwind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "coroutine/detail/sleeping_thread.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/testing/sanitizers.h"
#include "coroutine/virtual_time.h"
#include "test/coroutine/emulation.h"

namespace corolane::coroutine::detail {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

// The return addresses of the calls below, outermost first.
std::vector<std::uintptr_t> called_from;

[[gnu::always_inline]] inline void note_caller() {
  called_from.push_back(
      reinterpret_cast<std::uintptr_t>(__builtin_extract_return_addr(__builtin_return_address(0))));
}

// Prevents a tail call, which would leave no frame.
[[gnu::always_inline]] inline void stay() { asm volatile(""); }

[[gnu::noinline]] void inner(void (*act)()) {
  note_caller();
  act();
  stay();
}

[[gnu::noinline]] void outer(void (*act)()) {
  note_caller();
  inner(act);
  stay();
}

// The return addresses in both lists, in the order of the trace.
std::vector<std::uintptr_t> common_calls(const std::vector<std::uintptr_t>& addresses) {
  std::vector<std::uintptr_t> common;
  std::ranges::copy_if(addresses, std::back_inserter(common), [](std::uintptr_t address) {
    return std::ranges::find(called_from, address) != called_from.end();
  });
  return common;
}

StackTrace trace_of(TaskId id) {
  const auto info = Scheduler::current().task(id);
  return info ? info->trace : StackTrace{};
}

class UnwindTest : public testing::Test {
 protected:
  UnwindTest() { called_from.clear(); }

  // Spawns a task that calls `act` two calls deep, and lets it run.
  Task<void> spawn_deep(void (*act)()) {
    auto task = spawn("deep", [act] { outer(act); });
    id_ = Scheduler::current().tasks().back().id;
    EXPECT_TRUE(yield());
    return task;
  }
  void expect_both_calls() {
    ASSERT_EQ(called_from.size(), 2u);
    const std::vector innermost_first(called_from.rbegin(), called_from.rend());
    EXPECT_EQ(common_calls(trace_of(id_).return_addresses), innermost_first);
  }

  TaskId id_ = 0;
};

TEST_F(UnwindTest, WalksATaskThatWaits) {
  auto task = spawn_deep([] { EXPECT_TRUE(sleep_for(1s)); });
  expect_both_calls();
  EXPECT_EQ(trace_of(id_), trace_of(id_));
  EXPECT_TRUE(task.join(Deadline::never()));  // It continues undisturbed.
}

TEST_F(UnwindTest, WalksATaskThatYielded) {
  auto task = spawn_deep([] { EXPECT_TRUE(yield()); });
  expect_both_calls();
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST_F(UnwindTest, WalksATaskThatWaitedAndIsReadyAgain) {
  static Event* door;
  Event event("a door");
  door = &event;
  auto task = spawn_deep([] { EXPECT_TRUE(door->wait(Deadline::never())); });
  event.set();
  expect_both_calls();
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST_F(UnwindTest, WalksATaskThatSuspendedInsideACatch) {
  auto task = spawn_deep([] {
    try {
      throw std::runtime_error("caught below");
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(sleep_for(1s));
    }
  });
  expect_both_calls();
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST_F(UnwindTest, WalksThroughLibrariesWithoutFramePointers) {
  auto task = spawn_deep([] {
    std::array numbers{2, 1};
    std::qsort(numbers.data(), numbers.size(), sizeof(int), [](const void*, const void*) {
      EXPECT_TRUE(sleep_for(1s));
      return 0;
    });
  });
  expect_both_calls();
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST_F(UnwindTest, WalksTheCallingTask) {
  static std::vector<std::uintptr_t> own;
  outer([] {
    own.resize(StackTrace::depth_max);
    own.resize(unwind_here(own));
  });
  ASSERT_EQ(called_from.size(), 2u);
  EXPECT_EQ(common_calls(own), std::vector(called_from.rbegin(), called_from.rend()));
  own = {};
}

TEST_F(UnwindTest, EveryTraceEndsWhereTheTaskBegan) {
  auto shallow = spawn("shallow", [] { EXPECT_TRUE(sleep_for(1s)); });
  const TaskId shallow_id = Scheduler::current().tasks().back().id;
  auto deep = spawn_deep([] { EXPECT_TRUE(sleep_for(1s)); });
  const auto deep_trace = trace_of(id_).return_addresses;
  const auto shallow_trace = trace_of(shallow_id).return_addresses;
  ASSERT_FALSE(deep_trace.empty());
  ASSERT_FALSE(shallow_trace.empty());
  EXPECT_EQ(deep_trace.back(), shallow_trace.back());
  EXPECT_TRUE(deep.join(Deadline::never()));
  EXPECT_TRUE(shallow.join(Deadline::never()));
}

// The calls of a thread that sleeps in `act`, by its registers in the kernel. `act` sets is_there
// and then reads from wakes[0].
std::array<int, 2> wakes;
std::atomic<bool> is_there;
void expect_calls_of_sleeper(void (*act)()) {
  ASSERT_EQ(::pipe(wakes.data()), 0);
  is_there = false;
  std::atomic<pid_t> id = 0;
  std::jthread sleeper([&] {
    id = ::gettid();
    outer(act);
  });
  while (!is_there) std::this_thread::yield();
  std::optional<SleepingThread> asleep;
  while (!(asleep = look_at_thread(id))) std::this_thread::yield();
  std::vector<std::uintptr_t> addresses(StackTrace::depth_max);
  addresses.resize(unwind_sleeping(asleep->instruction, asleep->stack_pointer,
                                   asleep->stack_pointer + 32 * 1024, addresses));
  EXPECT_EQ(::write(wakes[1], "x", 1), 1);
  sleeper.join();
  ASSERT_EQ(called_from.size(), 2u);
  EXPECT_EQ(common_calls(addresses), std::vector(called_from.rbegin(), called_from.rend()));
  ::close(wakes[0]);
  ::close(wakes[1]);
}

TEST_F(UnwindTest, WalksAThreadThatSleepsInASystemCall) {
  if (test::is_emulated()) GTEST_SKIP() << "the kernel tells of the emulator";
  if (test::under_sanitizer) GTEST_SKIP() << "a fault in a walk confuses the sanitizer";
  expect_calls_of_sleeper([] {
    char byte = 0;
    is_there = true;
    EXPECT_EQ(::read(wakes[0], &byte, 1), 1);
  });
}

// Its frame is found by the frame pointer alone, which the kernel does not tell.
TEST_F(UnwindTest, WalksAThreadThatSleepsBelowAFrameOfVariableSize) {
  if (test::is_emulated()) GTEST_SKIP() << "the kernel tells of the emulator";
  if (test::under_sanitizer) GTEST_SKIP() << "a fault in a walk confuses the sanitizer";
  expect_calls_of_sleeper([] {
    static volatile std::size_t size = 100;
    auto* const bytes = static_cast<char*>(__builtin_alloca(size));
    is_there = true;
    EXPECT_EQ(::read(wakes[0], bytes, 1), 1);
  });
}

[[gnu::noinline]] int descend(int depth) {
  if (depth == 0) return sleep_for(1s) ? 0 : -1;
  const int below = descend(depth - 1);
  stay();
  return below + 1;
}

TEST_F(UnwindTest, ADeepStackKeepsItsInnermostFrames) {
  auto task = spawn("deep", [] { return descend(500); }, {.stack_size_bytes = 256 * 1024});
  EXPECT_TRUE(yield());
  const StackTrace trace = Scheduler::current().tasks({.traces = true}).back().trace;
  EXPECT_EQ(trace.return_addresses.size(), StackTrace::depth_max);
  EXPECT_EQ(task.join(Deadline::never()), 500);
}

TEST_F(UnwindTest, ATaskThatHasNotBegunOrHasEndedHasNoTrace) {
  auto task = spawn("short", [] {});
  const TaskId id = Scheduler::current().tasks().back().id;
  EXPECT_THAT(trace_of(id).return_addresses, IsEmpty());
  EXPECT_TRUE(yield());
  ASSERT_EQ(Scheduler::current().task(id)->state, TaskState::ended);
  EXPECT_THAT(trace_of(id).return_addresses, IsEmpty());
  EXPECT_TRUE(task.join(Deadline::never()));
  EXPECT_FALSE(Scheduler::current().task(id));
}

// That task is not suspended: its control block's frame is out of date.
TEST_F(UnwindTest, ATaskThatRunsAnotherSchedulerHasNoTrace) {
  const Scheduler& outer_scheduler = Scheduler::current();
  const TaskId id = outer_scheduler.tasks().front().id;
  VirtualTime time;
  Scheduler scheduler(time);
  EXPECT_TRUE(scheduler.run("main", [&] {
    EXPECT_THAT(outer_scheduler.task(id)->trace.return_addresses, IsEmpty());
    EXPECT_FALSE(Scheduler::current().tasks({.traces = true}).front().trace.empty());
  }));
}

}  // namespace
}  // namespace corolane::coroutine::detail
