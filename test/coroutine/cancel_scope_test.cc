// SPDX-License-Identifier: MIT
#include "coroutine/cancel_scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_local.h"
#include "coroutine/testing/matchers.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

constinit TaskLocal<int> own;
constinit TaskLocal<std::string, Inheritance::copy> inherited;

TEST(CancelScopeTest, IsCancelledAtItsDeadlineAndItsTaskIsNot) {
  const TimePoint start = now();
  {
    const CancelScope part(Deadline::after(50ms));
    EXPECT_TRUE(sleep_for(20ms));
    EXPECT_FALSE(part.is_cancelled());
    EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
    EXPECT_EQ(now() - start, 50ms);
    EXPECT_TRUE(part.is_cancelled());
    EXPECT_TRUE(is_cancelled());
    EXPECT_THAT(yield(), fails_with(Code::cancelled));
    EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
  }
  EXPECT_FALSE(is_cancelled());
  EXPECT_TRUE(yield());
  EXPECT_TRUE(sleep_for(1s));
}

TEST(CancelScopeTest, APartThatEndsInTimeLeavesNothingBehind) {
  {
    const CancelScope part(Deadline::after(50ms));
    EXPECT_TRUE(sleep_for(49ms));
  }
  EXPECT_TRUE(sleep_for(1h));
}

TEST(CancelScopeTest, ADeadlineThatHasPassedCancelsAtOnce) {
  const CancelScope part(Deadline::passed());
  EXPECT_TRUE(part.is_cancelled());
  EXPECT_THAT(sleep_for(1ns), fails_with(Code::cancelled));
}

TEST(CancelScopeTest, ItsTimerIsArmedWhenItsTaskFirstSuspends) {
  auto task = spawn("task", [] {
    TimerWheel& timers = Scheduler::current().timers();
    const std::size_t before = timers.armed_count();
    {
      const CancelScope part(Deadline::after(1s));
    }
    const CancelScope outer(Deadline::after(2s));
    {
      const CancelScope inner(Deadline::after(1s));
      EXPECT_EQ(timers.armed_count(), before);
      EXPECT_TRUE(yield());
      EXPECT_EQ(timers.armed_count(), before + 2);
    }
    EXPECT_EQ(timers.armed_count(), before + 1);
    const CancelScope second(Deadline::after(1s));
    EXPECT_EQ(timers.armed_count(), before + 1);
    EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
    EXPECT_TRUE(second.is_cancelled());
    EXPECT_FALSE(outer.is_cancelled());
  });
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(CancelScopeTest, AWaitUntilItsOwnDeadlineIsCancelled) {
  const Deadline deadline = Deadline::after(50ms);
  const CancelScope outer(deadline);
  const CancelScope inner(deadline);
  Event never("never");
  EXPECT_THAT(never.wait(deadline), fails_with(Code::cancelled));
  EXPECT_TRUE(outer.is_cancelled());
}

TEST(CancelScopeTest, AValueThatSuspendsAtTheEndOfAPartIsCancelledWithTheOuterOne) {
  struct Sleeper {
    ~Sleeper() { EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled)); }
  };
  static TaskLocal<std::unique_ptr<Sleeper>> sleeper;
  const TimePoint start = now();
  const CancelScope outer(Deadline::after(50ms));
  {
    const CancelScope inner(Deadline::after(10ms));
    sleeper.set(std::make_unique<Sleeper>());
  }
  EXPECT_EQ(now() - start, 50ms);
}

TEST(CancelScopeTest, AnotherTaskCancelsIt) {
  Event never("never");
  std::optional<CancelScope> part(std::in_place, Deadline::never());
  auto other = spawn("other", [&] {
    part->cancel();
    part->cancel();
  });
  EXPECT_THAT(never.wait(Deadline::never()), fails_with(Code::cancelled));
  part.reset();
  EXPECT_TRUE(other.join(Deadline::never()));
  EXPECT_TRUE(yield());
}

TEST(CancelScopeTest, AnOuterPartCancelsItsInnerPart) {
  const CancelScope outer(Deadline::after(10ms));
  {
    const CancelScope inner(Deadline::after(20ms));
    EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
    EXPECT_TRUE(outer.is_cancelled());
    EXPECT_FALSE(inner.is_cancelled());
  }
  EXPECT_THAT(yield(), fails_with(Code::cancelled));
}

TEST(CancelScopeTest, AnInnerPartIsCancelledAlone) {
  const CancelScope outer(Deadline::after(20ms));
  {
    const CancelScope inner(Deadline::after(10ms));
    EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
  }
  EXPECT_TRUE(sleep_for(5ms));
  EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
}

TEST(CancelScopeTest, ACancelledTaskStaysCancelled) {
  auto task = spawn("task", [] {
    {
      CancelScope part(Deadline::never());
      EXPECT_THAT(sleep_for(1h), fails_with(Code::cancelled));
      EXPECT_FALSE(part.is_cancelled());
      part.cancel();
    }
    EXPECT_TRUE(is_cancelled());
    EXPECT_THAT(yield(), fails_with(Code::cancelled));
  });
  EXPECT_TRUE(yield());
  task.cancel();
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(CancelScopeTest, ManyNest) {
  const auto nest = [](const auto& self, int depth) -> void {
    CancelScope part(Deadline::never());
    part.cancel();
    if (depth > 0) self(self, depth - 1);
    EXPECT_TRUE(is_cancelled());
  };
  nest(nest, 50);
  EXPECT_FALSE(is_cancelled());
}

TEST(CancelScopeTest, HasItsOwnTaskLocalValues) {
  own.set(1);
  inherited.set("outer");
  {
    const CancelScope part(Deadline::never());
    EXPECT_EQ(own.get(), nullptr);
    ASSERT_NE(inherited.get(), nullptr);
    EXPECT_EQ(*inherited.get(), "outer");
    own.set(2);
    inherited.set("inner");
    {
      const CancelScope innermost(Deadline::never());
      EXPECT_EQ(*inherited.get(), "inner");
    }
    auto child = spawn("child", [] { EXPECT_EQ(*inherited.get(), "inner"); });
    EXPECT_TRUE(child.join(Deadline::never()));
    EXPECT_EQ(*own.get(), 2);
  }
  EXPECT_EQ(*own.get(), 1);
  EXPECT_EQ(*inherited.get(), "outer");
}

// Counts its copies.
struct Counted {
  Counted() = default;
  explicit Counted(int& its_count) : count(&its_count) {}
  Counted(const Counted& other) : count(other.count) {
    if (count != nullptr) ++*count;
  }
  Counted& operator=(const Counted& other) = default;

  int* count = nullptr;
};
constinit TaskLocal<Counted, Inheritance::copy> counted;

TEST(CancelScopeTest, CopiesWhatItInheritsWhenItFirstAsks) {
  int copies = 0;
  auto task = spawn("task", [&] {
    counted.set(Counted(copies));
    const auto* const outer = counted.get();
    copies = 0;
    {
      const CancelScope part(Deadline::never());
      {
        const CancelScope nested(Deadline::never());
        EXPECT_EQ(counted.peek(), outer);
        EXPECT_EQ(copies, 0);
        EXPECT_NE(counted.get(), outer);
        EXPECT_EQ(counted.peek(), counted.get());
        EXPECT_EQ(copies, 1);
      }
      EXPECT_EQ(counted.peek(), outer);
    }
    EXPECT_EQ(counted.get(), outer);
    EXPECT_EQ(copies, 1);
  });
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(CancelScopeTest, ATaskThatItSpawnsInheritsWhatItHasNotAskedFor) {
  own.set(1);
  inherited.set("outer");
  const CancelScope part(Deadline::never());
  const CancelScope nested(Deadline::never());
  auto child = spawn("child", [] {
    EXPECT_EQ(own.peek(), nullptr);
    ASSERT_NE(inherited.get(), nullptr);
    EXPECT_EQ(*inherited.get(), "outer");
  });
  EXPECT_TRUE(child.join(Deadline::never()));
  EXPECT_EQ(own.peek(), nullptr);  // Not inherited by a part either.
}

TEST(CancelScopeTest, ATaskWithoutValuesHasNoneAfterwards) {
  auto task = spawn("task", [] {
    {
      const CancelScope part(Deadline::never());
      own.set(2);
    }
    EXPECT_EQ(own.get(), nullptr);
    own.set(3);
    EXPECT_EQ(*own.get(), 3);
  });
  EXPECT_TRUE(task.join(Deadline::never()));
}

TEST(CancelScopeTest, StackIsLeftWhenLittleIsUsed) {
  auto task = spawn("task",
                    [] {
                      EXPECT_TRUE(has_stack_left(StackPool::stack_size_bytes_default));
                      EXPECT_TRUE(has_stack_left(StackPool::stack_size_bytes_min));
                      EXPECT_FALSE(has_stack_left(2 * StackPool::stack_size_bytes_default));
                    },
                    {.stack_size_bytes = StackPool::stack_size_bytes_default});
  EXPECT_TRUE(task.join(Deadline::never()));
}

}  // namespace
}  // namespace corolane::coroutine
