// SPDX-License-Identifier: MIT
// Covers every kind of stack overflow at every size: each is reported by name and ends by SIGSEGV.
//
// Under the address sanitizer its own report follows ours, and it exits with a status of its own.
#include "coroutine/detail/overflow_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cfloat>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>

#include "coroutine/async/async.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/task.h"
#include "coroutine/testing/sanitizers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine::detail {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kibibyte = 1024;

// The action that a sanitizer has installed, and whether first_handler() exits with status 42.
constinit struct sigaction sanitizers_action = {};
constinit bool exits_on_fault = false;

void first_handler(int signal, siginfo_t* info, void* /*context*/) {
  if (exits_on_fault) std::_Exit(42);
  // The return repeats a fault, but not a signal that was sent or that had no room.
  ::sigaction(signal, &sanitizers_action, nullptr);
  if (info->si_code <= 0 || info->si_code == SI_KERNEL) ::raise(signal);
}

const bool first_handler_installed = [] {
  struct sigaction action = {};
  action.sa_sigaction = &first_handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  return ::sigaction(SIGSEGV, &action, &sanitizers_action) == 0;
}();

bool dies_of_its_fault(int status) {
  return test::under_sanitizer ? !testing::ExitedWithCode(0)(status)
                               : testing::KilledBySignal(SIGSEGV)(status);
}

// The kinds of overflow. Each continues until the stack is exhausted; the volatile variables hide
// this from the compiler.
volatile int steps = 0;
volatile long double largest = LDBL_MAX;
volatile int many_digits = 10'000;
// Asking the system for them would need room on the stack.
std::ptrdiff_t room_bytes = 0;
pid_t process = 0;
pid_t thread = 0;

[[gnu::noinline]] void recurse() {
  volatile char frame[200];
  frame[0] = 1;
  if (steps >= 0) recurse();
  steps = steps + frame[0];
}

// Larger than any frame that a guard could catch without stack probes.
[[gnu::noinline]] void recurse_in_large_frames() {
  volatile char frame[72 * kibibyte];
  frame[0] = 1;
  if (steps >= 0) recurse_in_large_frames();
  steps = steps + frame[0];
}

[[gnu::noinline]] void allocate_on_the_stack() {
  auto* const memory = static_cast<volatile char*>(__builtin_alloca(100 * kibibyte));
  memory[0] = 1;
  if (steps >= 0) allocate_on_the_stack();
  steps = steps + memory[0];
}

[[gnu::noinline]] void allocate_more_than_any_stack() {
  auto* const memory = static_cast<volatile char*>(
      __builtin_alloca(StackPool::stack_size_bytes_max + 100 * kibibyte));
  memory[0] = 1;
  steps = steps + memory[0];
}

// The library needs more stack than one step, so the overflow happens inside the library.
[[gnu::noinline]] void print_at_each_depth() {
  volatile char frame[100];
  frame[0] = 1;
  char text[64];
  steps = steps + std::snprintf(text, sizeof(text), "%d %.3f", steps, 1.5);
  if (steps >= 0) print_at_each_depth();
  steps = steps + frame[0];
}

// Prints 14,933 digits, for which the library takes 58 KiB of stack at once and touches the far end
// of it first: glibc allocates up to 64 KiB that way (__MAX_ALLOCA_CUTOFF).
[[gnu::noinline]] void print_large_numbers_at_each_depth() {
  volatile char frame[8 * kibibyte];
  frame[0] = 1;
  char text[64];
  steps = steps + std::snprintf(text, sizeof(text), "%.*Lf", many_digits, largest);
  if (steps >= 0) print_large_numbers_at_each_depth();
  steps = steps + frame[0];
}

int sort_in_comparison(const void* /*left*/, const void* /*right*/) {
  int numbers[] = {3, 1, 2};
  std::qsort(numbers, 3, sizeof(int), &sort_in_comparison);
  steps = steps + numbers[0];
  return 0;
}

void sort() { sort_in_comparison(nullptr, nullptr); }

// The library's parser calls itself for each parenthesis.
void compile_a_deep_expression() {
  constexpr std::size_t depth = 30'000;
  const std::string expression =
      std::string(depth, '(') + std::string("x") + std::string(depth, ')');
  regex_t compiled;
  if (::regcomp(&compiled, expression.c_str(), REG_EXTENDED) == 0) ::regfree(&compiled);
}

struct Way {
  const char* name;
  void (*overflow)();
};

constexpr Way ways[] = {
    {"Recursion", &recurse},
    {"LargeFrames", &recurse_in_large_frames},
    {"Alloca", &allocate_on_the_stack},
    {"HugeAlloca", &allocate_more_than_any_stack},
    {"Printf", &print_at_each_depth},
    {"PrintfOfLargeNumbers", &print_large_numbers_at_each_depth},
    {"Qsort", &sort},
    {"Regcomp", &compile_a_deep_expression},
};

class OverflowDeathTest : public testing::TestWithParam<std::tuple<Way, std::size_t>> {};

TEST_P(OverflowDeathTest, IsNamedBeforeTheProcessDies) {
  const Way way = std::get<0>(GetParam());
  const std::size_t stack_size_bytes = std::get<1>(GetParam());
  const std::string size = std::to_string(
      std::min(stack_size_bytes * stack_size_factor, StackPool::stack_size_bytes_max));
  const auto spawn_and_overflow = [&] {
    auto task = spawn("bottomless", way.overflow, {.stack_size_bytes = stack_size_bytes});
    static_cast<void>(task.join(Deadline::never()));
  };
  const std::string line = std::to_string(__LINE__ - 3);
  EXPECT_EXIT(spawn_and_overflow(), dies_of_its_fault,
              AllOf(HasSubstr("\"bottomless\" needs more than its " + size + " bytes of stack"),
                    HasSubstr(" at address 0x"), HasSubstr("spawned at " __FILE__ ":" + line)));
}

// Leaves less of the running task's stack than the frame of a signal needs.
[[gnu::noinline]] void signal_near_the_end() {
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  if (here - Strand::task_of_stack()->stack().base > room_bytes) {
    signal_near_the_end();
  } else {
    ::syscall(SYS_tgkill, process, thread, SIGUSR1);
  }
  steps = steps + 1;
}

TEST(OverflowOfASignalDeathTest, IsNamedBeforeTheProcessDies) {
  const auto signal_and_return = [] {
    // Without SA_ONSTACK the handler runs on the stack of the task.
    ::signal(SIGUSR1, [](int) {});
    room_bytes = static_cast<std::ptrdiff_t>(::getauxval(AT_MINSIGSTKSZ)) / 4 * 3;
    process = ::getpid();
    thread = ::gettid();
    static_cast<void>(spawn("signalled", &signal_near_the_end).join(Deadline::never()));
  };
  EXPECT_EXIT(signal_and_return(), dies_of_its_fault,
              HasSubstr("\"signalled\" needs more than its "));
}

void overflow_by(void (*way)(), std::size_t stack_size_bytes) {
  static_cast<void>(
      spawn("bottomless", way, {.stack_size_bytes = stack_size_bytes}).join(Deadline::never()));
}

[[gnu::noinline]] void keep_200_kibibytes() {
  volatile char frame[200 * kibibyte];
  frame[0] = 1;
  steps = steps + frame[0];
}

TEST(OverflowAdviceDeathTest, SuggestsAStackThatIsEnoughForTheFrameThatDidNotFit) {
  if (test::under_sanitizer) return;  // Its stacks are larger.
  EXPECT_EXIT(
      overflow_by(&keep_200_kibibytes, 64 * kibibyte), dies_of_its_fault,
      AllOf(HasSubstr("room for what it asked for here, 256 KiB"), Not(HasSubstr("recursion"))));
  overflow_by(&keep_200_kibibytes, 256 * kibibyte);  // It was enough.
}

TEST(OverflowAdviceDeathTest, SuggestsAStackThatIsEnoughForAnAlloca) {
  if (test::under_sanitizer) return;
  EXPECT_EXIT(overflow_by(
                  [] {
                    volatile std::size_t size = 300 * kibibyte;
                    auto* const memory = static_cast<volatile char*>(__builtin_alloca(size));
                    memory[0] = 1;
                    steps = steps + memory[0];
                  },
                  64 * kibibyte),
              dies_of_its_fault, HasSubstr("512 KiB"));
}

[[gnu::noinline]] void be_odd();
[[gnu::noinline]] void be_even() {
  if (steps >= 0) be_odd();
  steps = steps + 1;
}
void be_odd() {
  if (steps >= 0) be_even();
  steps = steps + 1;
}

TEST(OverflowAdviceDeathTest, SaysThatItWasARecursion) {
  EXPECT_EXIT(overflow_by(&recurse, 64 * kibibyte), dies_of_its_fault,
              HasSubstr("it is a recursion: the same 1 call repeats down the stack"));
  EXPECT_EXIT(overflow_by(&be_even, 64 * kibibyte), dies_of_its_fault,
              HasSubstr("it is a recursion: the same 2 calls repeat down the stack"));
}

TEST(OverflowAdviceDeathTest, NamesALargerStackUnlessThereIsNone) {
  EXPECT_EXIT(overflow_by(&recurse, 64 * kibibyte), dies_of_its_fault,
              AllOf(HasSubstr("give it 128 KiB"),
                    HasSubstr("option (corolane.method).stack_size = \"128KiB\";"),
                    HasSubstr("{.stack_size_bytes = 128 * 1024}")));
  if (test::under_sanitizer) return;  // Its larger frames make an earlier size the largest.
  EXPECT_EXIT(overflow_by(&recurse, StackPool::stack_size_bytes_max), dies_of_its_fault,
              HasSubstr("no stack is large enough: let it call less deeply"));
}

Async<void> recurse_stackless() {
  recurse();
  co_return {};
}

TEST(OverflowAsyncDeathTest, ACoroutineThatOverflowsTheAwaitingTasksStackNamesTheTask) {
  const auto overflow = [] {
    auto task = spawn("awaits", [] { return await(recurse_stackless()); });
    static_cast<void>(task.join(Deadline::never()));
  };
  EXPECT_EXIT(overflow(), dies_of_its_fault, HasSubstr("\"awaits\" needs more than its "));
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, OverflowDeathTest,
    testing::Combine(testing::ValuesIn(ways),
                     testing::Values(16 * kibibyte, 32 * kibibyte, 64 * kibibyte, 128 * kibibyte,
                                     256 * kibibyte, 512 * kibibyte, 1024 * kibibyte)),
    [](const auto& corpus) {
      return std::get<0>(corpus.param).name + std::to_string(std::get<1>(corpus.param) / kibibyte) +
             "KiB";
    });

TEST(OverflowWatchDeathTest, AFaultElsewhereIsPassedOnUntouched) {
  void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EXIT(*static_cast<volatile char*>(page) = 1, dies_of_its_fault,
              Not(HasSubstr("stack overflow: task")));
  ::munmap(page, 4096);
}

TEST(OverflowWatchDeathTest, ASignalThatIsSentIsPassedOn) {
  EXPECT_EXIT(::raise(SIGSEGV), dies_of_its_fault, Not(HasSubstr("stack overflow: task")));
}

TEST(OverflowWatchDeathTest, ThePreviousHandlerIsCalled) {
  ASSERT_TRUE(first_handler_installed);
  const auto overflow = [] {
    exits_on_fault = true;
    static_cast<void>(spawn("bottomless", &recurse).join(Deadline::never()));
  };
  EXPECT_EXIT(overflow(), testing::ExitedWithCode(42), HasSubstr("task 2 \"bottomless\""));
}

TEST(OverflowWatchDeathTest, TheSchedulerOfAnotherThreadIsWatchedToo) {
  const auto overflow = [] {
    std::thread([] {
      VirtualTime time;
      Scheduler scheduler(time);
      static_cast<void>(scheduler.run("of the thread", &recurse));
    }).join();
  };
  EXPECT_EXIT(overflow(), dies_of_its_fault, HasSubstr("task 1 \"of the thread\" needs"));
}

TEST(OverflowWatchDeathTest, ATaskOfAnInnerSchedulerIsTheOneThatIsNamed) {
  const auto overflow = [] {
    VirtualTime time;
    Scheduler scheduler(time);
    static_cast<void>(scheduler.run("inner", &recurse));
  };
  EXPECT_EXIT(overflow(), dies_of_its_fault, HasSubstr("task 1 \"inner\" needs more than"));
}

TEST(OverflowWatchDeathTest, ALoopInsideATaskIsOnTheStackOfThatTask) {
  const auto overflow = [] {
    VirtualTime time;
    Scheduler scheduler(time);
    scheduler.post(&recurse);
    static_cast<void>(scheduler.run("inner", [] { static_cast<void>(yield()); }));
  };
  EXPECT_EXIT(overflow(), dies_of_its_fault, HasSubstr("task 1 \"tests\" needs more than"));
}

TEST(OverflowWatchDeathTest, ANameWithControlCharactersIsPrintedOnOneLine) {
  const auto overflow = [] {
    static_cast<void>(spawn("a\nb\x1b[2J\xc3", &recurse).join(Deadline::never()));
  };
  EXPECT_EXIT(overflow(), dies_of_its_fault, HasSubstr("\"a?b?[2J?\" needs"));
}

TEST(OverflowWatchTest, KnowsOnlyTheGuardOfTheRunningTask) {
  auto task = spawn("watched", [] {
    const std::byte* const here = static_cast<std::byte*>(__builtin_frame_address(0));
    EXPECT_EQ(OverflowWatch::overflowed(here), nullptr);
    EXPECT_EQ(OverflowWatch::overflowed(nullptr), nullptr);
  });
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(OverflowWatchTest, AThreadThatRunsTasksHasASignalStack) {
  std::thread([] {
    VirtualTime time;
    Scheduler scheduler(time);
    EXPECT_TRUE(scheduler.run("main", [] {
      stack_t present = {};
      ::sigaltstack(nullptr, &present);
      EXPECT_EQ(present.ss_flags & SS_DISABLE, 0);
    }));
  }).join();
}

}  // namespace
}  // namespace corolane::coroutine::detail
