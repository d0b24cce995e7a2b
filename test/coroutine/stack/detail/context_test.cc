// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/context.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cfenv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/scheduler.h"
#include "coroutine/stack/detail/context_switch.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/stack_pool.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "coroutine/virtual_time.h"

namespace corolane::coroutine::detail {
namespace {

// A flow below the scheduler: counts, switches back to its creator at each step, then ends.
struct Counter : Context {
  explicit Counter(const Stack& stack) {
    ThreadState::find();
    prepare<&Counter::run>(stack.base, stack.top);
  }

  void resume() {
    running = this;
    ContextSwitch::switch_to(creator, creator.frame, *this, frame);
  }

  static void run() {
    Counter& self = *running;
    self.local = static_cast<std::byte*>(__builtin_frame_address(0));
    for (self.count = 1; self.count < 3; ++self.count) {
      ContextSwitch::switch_to(self, self.frame, self.creator, self.creator.frame);
    }
    ContextSwitch::leave_to(self, self.creator, self.creator.frame);
  }

  static inline Counter* running = nullptr;

  Context creator;
  std::byte* local = nullptr;
  int count = 0;
};

TEST(ContextTest, ResumesWhereItWasLeftOnItsOwnStack) {
  StackPool pool;
  auto stack = pool.acquire();
  ASSERT_TRUE(stack);
  Counter counter(*stack);
  for (int step = 1; step <= 3; ++step) {
    counter.resume();
    EXPECT_EQ(counter.count, step);
  }
  EXPECT_GE(counter.local, stack->base);
  EXPECT_LT(counter.local, stack->top);
  pool.release(*stack);
}

TEST(ContextTest, ErrnoBelongsToTheTask) {
  const auto keep = [](int error_number) {
    errno = error_number;
    for (int turn = 0; turn < 5; ++turn) {
      EXPECT_TRUE(yield());
      EXPECT_EQ(errno, error_number);
    }
  };
  errno = ENOENT;
  auto left = spawn("left", [&] {
    EXPECT_EQ(errno, 0);
    keep(EAGAIN);
  });
  auto right = spawn("right", [&] { keep(EINTR); });
  EXPECT_TRUE(left.join(Deadline::never()));
  EXPECT_TRUE(right.join(Deadline::never()));
  EXPECT_EQ(errno, ENOENT);
}

TEST(ContextTest, TheRoundingModeBelongsToTheTask) {
  if (test::under_valgrind()) GTEST_SKIP() << "valgrind always rounds to the nearest";
  const auto third = [] {
    volatile double one = 1;
    return one / 3;
  };
  const double to_nearest = third();
  const auto round = [&](int mode, double expected) {
    std::fesetround(mode);
    for (int turn = 0; turn < 5; ++turn) {
      EXPECT_EQ(third(), expected);
      EXPECT_TRUE(yield());
      EXPECT_EQ(std::fegetround(), mode);
    }
    std::fesetround(FE_TONEAREST);
  };
  auto upward = spawn("upward", [&] { round(FE_UPWARD, std::nextafter(to_nearest, 1)); });
  auto nearest = spawn("nearest", [&] { round(FE_TONEAREST, to_nearest); });
  EXPECT_TRUE(upward.join(Deadline::never()));
  EXPECT_TRUE(nearest.join(Deadline::never()));
  EXPECT_EQ(third(), to_nearest);
}

TEST(ContextTest, TheRoundingModeOfAnEndedTaskIsNotInherited) {
  auto careless = spawn("careless", [] { std::fesetround(FE_UPWARD); });
  auto next = spawn("next", [] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
  EXPECT_TRUE(careless.join(Deadline::never()));
  EXPECT_TRUE(next.join(Deadline::never()));
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

// From now on, results below the normal range are zero on this thread.
void flush_tiny_numbers() {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#else
  std::uint64_t fpcr = 0;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  asm volatile("msr fpcr, %0" : : "r"(fpcr | 1 << 24));
#endif
}

bool tiny_numbers_are_zero() {
  volatile double least = std::numeric_limits<double>::min();
  return least / 2 == 0;
}

TEST(ContextTest, TasksBeginWithTheArithmeticOfTheirThread) {
  if (test::under_valgrind()) GTEST_SKIP() << "valgrind always rounds to the nearest";
  std::thread thread([] {
    flush_tiny_numbers();
    std::fesetround(FE_UPWARD);
    VirtualTime time;
    Scheduler scheduler(time);
    const auto expect_it = [] {
      EXPECT_TRUE(tiny_numbers_are_zero());
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
    };
    EXPECT_TRUE(scheduler.run("main", [&] {
      expect_it();
      auto other = spawn("other", [&] {
        std::fesetround(FE_DOWNWARD);
        EXPECT_TRUE(yield());
        EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
      });
      auto next = spawn("next", expect_it);
      EXPECT_TRUE(yield());
      expect_it();
      EXPECT_TRUE(other.join(Deadline::never()));
      EXPECT_TRUE(next.join(Deadline::never()));
    }));
    expect_it();
  });
  thread.join();
  EXPECT_FALSE(tiny_numbers_are_zero());
}

#if defined(__x86_64__)
TEST(ContextTest, EachSettingOfTheArithmeticBelongsToTheTask) {
  if (test::under_valgrind()) GTEST_SKIP() << "valgrind always rounds to the nearest";
  constexpr unsigned settings_mask = 0xe040;
  const auto settings = [] { return __builtin_ia32_stmxcsr() & settings_mask; };
  const unsigned of_thread = settings();
  // Tiny operands are zero, tiny results are zero, and each way to round.
  for (const unsigned own : {0x0040u, 0x8000u, 0x8040u, 0x2000u, 0x4000u, 0x6000u, 0xe040u}) {
    auto task = spawn("task", [&] {
      __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() ^ own);
      EXPECT_TRUE(yield());
      EXPECT_EQ(settings(), of_thread ^ own);
    });
    auto next = spawn("next", [&] { EXPECT_EQ(settings(), of_thread); });
    EXPECT_TRUE(yield());
    EXPECT_EQ(settings(), of_thread) << own;
    EXPECT_TRUE(task.join(Deadline::never()));
    EXPECT_TRUE(next.join(Deadline::never()));
  }
}

TEST(ContextTest, AThreadWhoseTinyResultsTrapRunsTasks) {
  if (test::under_valgrind()) GTEST_SKIP() << "valgrind never traps";
  std::jthread([] {
    static constexpr int trapping = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW;
    ::feenableexcept(trapping);
    VirtualTime time;
    Scheduler scheduler(time);
    EXPECT_TRUE(scheduler.run("main", [] {
      auto other = spawn("other", [] {
        std::fesetround(FE_UPWARD);
        EXPECT_TRUE(yield());
        EXPECT_EQ(std::fegetround(), FE_UPWARD);
      });
      EXPECT_TRUE(yield());
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
      EXPECT_TRUE(other.join(Deadline::never()));
      EXPECT_EQ(::fegetexcept(), trapping);
    }));
  });
}
#endif

TEST(ContextTest, TheArithmeticOfATaskIsThatOfTheSchedulerThatItRuns) {
  if (test::under_valgrind()) GTEST_SKIP() << "valgrind always rounds to the nearest";
  auto outer = spawn("outer", [] {
    std::fesetround(FE_UPWARD);
    VirtualTime time;
    Scheduler scheduler(time);
    EXPECT_TRUE(scheduler.run("main", [] { EXPECT_EQ(std::fegetround(), FE_UPWARD); }));
    EXPECT_TRUE(yield());
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
  });
  auto next = spawn("next", [] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
  EXPECT_TRUE(next.join(Deadline::never()));
  EXPECT_TRUE(outer.join(Deadline::never()));
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(ContextTest, TheStackOfAnEndedContextIsReused) {
  StackPool pool;
  for (int round = 0; round < 100; ++round) {
    auto stack = pool.acquire();
    ASSERT_TRUE(stack);
    Counter counter(*stack);
    for (int step = 1; step <= 3; ++step) counter.resume();
    EXPECT_EQ(counter.count, 3);
    pool.release(*stack);
  }
}

std::string current_message() {
  try {
    throw;
  } catch (const std::exception& exception) {
    return exception.what();
  }
}

void suspend_inside_catch(const std::string& name) {
  try {
    throw std::runtime_error(name);
  } catch (const std::runtime_error& caught) {
    for (int turn = 0; turn < 5; ++turn) {
      EXPECT_TRUE(yield());
      EXPECT_EQ(caught.what(), name);
      EXPECT_EQ(current_message(), name);
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
  }
  EXPECT_EQ(std::current_exception(), nullptr);
}

TEST(ContextTest, TasksSuspendedInsideCatchKeepTheirOwnExceptions) {
  TaskGroup group;
  for (const char* const name : {"one", "two", "three"}) {
    EXPECT_TRUE(group.spawn(name, [name] { suspend_inside_catch(name); }));
  }
  EXPECT_TRUE(group.join(Deadline::never()));
}

TEST(ContextTest, ATaskBegunInsideCatchHasNoException) {
  try {
    throw std::runtime_error("of the parent");
  } catch (const std::runtime_error&) {
    auto child = spawn("child", [] {
      EXPECT_EQ(std::current_exception(), nullptr);
      suspend_inside_catch("of the child");
    });
    EXPECT_TRUE(child.join(Deadline::never()));
    EXPECT_EQ(current_message(), "of the parent");
  }
}

// Throws, catches, suspends and rethrows at each depth, and always sees its own exceptions.
void throw_and_catch(test::Random& random, const std::string& name, int depth) {
  const std::string message = name + "/" + std::to_string(depth);
  try {
    try {
      if (random.one_in(2)) static_cast<void>(yield());
      throw std::runtime_error(message);
    } catch (const std::runtime_error&) {
      if (random.one_in(2)) static_cast<void>(yield());
      if (depth > 0) throw_and_catch(random, name, depth - 1);
      if (random.one_in(2)) static_cast<void>(yield());
      ASSERT_EQ(current_message(), message);
      if (random.one_in(2)) throw;
      if (random.one_in(2)) std::rethrow_exception(std::current_exception());
      throw std::logic_error(message);
    }
  } catch (const std::exception& exception) {
    if (random.one_in(2)) static_cast<void>(yield());
    ASSERT_EQ(exception.what(), message);
    ASSERT_EQ(current_message(), message);
  }
}

TEST(ContextTest, NestedAndRethrownExceptionsStayWithTheirTask) {
  test::Random random;
  TaskGroup group;
  for (int number = 0; number < 20; ++number) {
    EXPECT_TRUE(group.spawn("thrower", [&random, number] {
      for (int round = 0; round < 10; ++round) {
        throw_and_catch(random, std::to_string(number), 4);
        EXPECT_EQ(std::current_exception(), nullptr);
      }
    }));
  }
  EXPECT_TRUE(group.join(Deadline::never()));
}

// Suspends while an exception passes through the frame.
struct SuspendsWhenUnwound {
  ~SuspendsWhenUnwound() {
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      EXPECT_TRUE(yield());
    }
  }
};

TEST(ContextTest, ATaskMaySuspendWhileAnExceptionUnwindsIt) {
  const auto unwind = [](const std::string& name) {
    try {
      const SuspendsWhenUnwound unwound;
      throw std::runtime_error(name);
    } catch (const std::runtime_error& caught) {
      EXPECT_EQ(caught.what(), name);
    }
  };
  auto left = spawn("left", [&] { unwind("left"); });
  auto right = spawn("right", [&] { unwind("right"); });
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  EXPECT_TRUE(left.join(Deadline::never()));
  EXPECT_TRUE(right.join(Deadline::never()));
}

// Uses at least half a kibibyte of stack for each level of depth.
[[gnu::noinline]] int deep_sum(int depth) {
  volatile char frame[512];
  frame[0] = 1;
  const int deeper = depth > 1 ? deep_sum(depth - 1) : 0;
  return deeper + frame[0];
}

TEST(ContextTest, ATaskHasTheStackThatItAskedFor) {
  auto small = spawn("small", [] { return deep_sum(20); }, {.stack_size_bytes = 16 * 1024});
  auto usual = spawn("usual", [] { return deep_sum(90); });
  auto large = spawn("large", [] { return deep_sum(400); }, {.stack_size_bytes = 256 * 1024});
  EXPECT_EQ(small.join(Deadline::never()), 20);
  EXPECT_EQ(usual.join(Deadline::never()), 90);
  EXPECT_EQ(large.join(Deadline::never()), 400);
}

TEST(ContextDeathTest, AStackOverflowIsAFault) {
  const auto overflow = [] {
    auto task = spawn("bottomless", [] { return deep_sum(1'000'000); });
    static_cast<void>(task.join(Deadline::never()));
  };
  // The sanitizers catch the signal and exit with their own status.
  EXPECT_EXIT(
      overflow(),
      [](int status) {
        return test::under_sanitizer ? !testing::ExitedWithCode(0)(status)
                                     : testing::KilledBySignal(SIGSEGV)(status);
      },
      test::under_sanitizer ? "Sanitizer" : "");
}

#if defined(COROLANE_ASAN)
TEST(ContextTest, AFlowReusesTheFakeStackOfAnEndedOne) {
  const auto fake_stack_of_a_task = [] {
    void* fake_stack = nullptr;
    auto task = spawn("flow", [&] { fake_stack = __asan_get_current_fake_stack(); });
    EXPECT_TRUE(task.join(Deadline::never()));
    return fake_stack;
  };
  void* const first = fake_stack_of_a_task();
  if (first == nullptr) GTEST_SKIP() << "needs ASAN_OPTIONS=detect_stack_use_after_return=1";
  EXPECT_EQ(fake_stack_of_a_task(), first);
}

TEST(ContextTest, AFlowBeginsOnAStackWithoutTheMarksOfFramesThatWereLeftForGood) {
  const auto low_end_of_a_task = [] {
    std::byte* low_end = nullptr;
    auto task = spawn("flow", [&] {
      low_end = Strand::task_of_stack()->stack().base;
      EXPECT_FALSE(__asan_address_is_poisoned(low_end));
    });
    EXPECT_TRUE(task.join(Deadline::never()));
    return low_end;
  };
  std::byte* const first = low_end_of_a_task();
  // A frame that jumps away leaves such a mark.
  __asan_poison_memory_region(first, 64);
  EXPECT_EQ(low_end_of_a_task(), first);
}
#endif

}  // namespace
}  // namespace corolane::coroutine::detail
