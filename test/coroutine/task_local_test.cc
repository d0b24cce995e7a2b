// SPDX-License-Identifier: MIT
// The owner and lifetime of a value, and its inheritance by children.
#include "coroutine/task_local.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pointee;

constinit TaskLocal<int> number;
constinit TaskLocal<std::string> text;
constinit TaskLocal<std::unique_ptr<int>> owned;
constinit TaskLocal<std::string, Inheritance::copy> trace;

// Runs `body` in a task of its own, which begins without values.
void in_task(std::move_only_function<void()> body) {
  EXPECT_TRUE(spawn("task", std::move(body)).join(Deadline::never()));
}

TEST(TaskLocalTest, ATaskBeginsWithoutAValue) {
  in_task([] { EXPECT_EQ(number.get(), nullptr); });
}

TEST(TaskLocalTest, AValueSurvivesASuspension) {
  in_task([] {
    EXPECT_EQ(number.set(17), 17);
    EXPECT_TRUE(sleep_for(1s));
    EXPECT_THAT(number.get(), Pointee(17));
  });
}

TEST(TaskLocalTest, AValueThatIsSetAgainKeepsItsPlace) {
  in_task([] {
    const int* const place = &number.set(1);
    number.set(2);
    EXPECT_EQ(number.get(), place);
    EXPECT_EQ(*place, 2);
  });
}

TEST(TaskLocalTest, ATaskWithoutAValueGetsANewOne) {
  in_task([] {
    EXPECT_EQ(number.get_or_new(), 0);
    const int* const place = &number.set(1);
    EXPECT_EQ(&number.get_or_new(), place);
    EXPECT_EQ(*place, 1);
    EXPECT_EQ(text.get_or_new(), "");
  });
}

TEST(TaskLocalTest, AGuestHidesAnEarlierValueWhileItLives) {
  in_task([] {
    trace.set("the task's");
    {
      TaskLocal<std::string, Inheritance::copy>::Guest guest(trace);
      guest.value() = "the guest's";
      EXPECT_EQ(trace.get(), &guest.value());
      number.set(17);  // Comes after the guest, and stays.
      in_task([] { EXPECT_THAT(trace.get(), Pointee(std::string("the guest's"))); });
      trace.set("changed");
      EXPECT_EQ(guest.value(), "changed");
    }
    EXPECT_THAT(trace.get(), Pointee(std::string("the task's")));
    EXPECT_THAT(number.get(), Pointee(17));
  });
}

TEST(TaskLocalTest, ATaskWithoutAValueMayHaveAGuest) {
  in_task([] {
    {
      TaskLocal<int>::Guest guest(number);
      EXPECT_THAT(number.get(), Pointee(0));
      EXPECT_EQ(number.peek(), &guest.value());
    }
    EXPECT_EQ(number.get(), nullptr);
    EXPECT_EQ(number.peek(), nullptr);
  });
}

TEST(TaskLocalTest, EachTaskHasItsOwn) {
  in_task([] {
    number.set(1);
    auto other = spawn("other", [] {
      number.set(2);
      EXPECT_TRUE(yield());
      EXPECT_THAT(number.get(), Pointee(2));
    });
    EXPECT_TRUE(yield());
    EXPECT_THAT(number.get(), Pointee(1));
    EXPECT_TRUE(other.join(Deadline::never()));
    EXPECT_THAT(number.get(), Pointee(1));
  });
}

TEST(TaskLocalTest, VariablesAreDistinct) {
  in_task([] {
    number.set(1);
    text.set("one");
    owned.set(std::make_unique<int>(1));
    EXPECT_THAT(number.get(), Pointee(1));
    EXPECT_THAT(text.get(), Pointee(std::string("one")));
    EXPECT_THAT(owned.get(), Pointee(Pointee(1)));
  });
}

TEST(TaskLocalTest, ValuesBeyondTheControlBlockHaveRoom) {
  static std::array<TaskLocal<std::string>, 20> many;
  struct alignas(64) Line {
    char begin = 'x';
  };
  static TaskLocal<Line> aligned;
  in_task([] {
    const Line& line = aligned.set({});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&line) % 64, 0u);
    for (std::size_t i = 0; i < many.size(); ++i) many[i].set(std::string(100, 'a' + char(i)));
    for (std::size_t i = 0; i < many.size(); ++i) {
      EXPECT_THAT(many[i].get(), Pointee(std::string(100, 'a' + char(i))));
    }
  });
}

TEST(TaskLocalTest, AChildInheritsNothingUnlessTheVariableSaysSo) {
  in_task([] {
    number.set(17);
    trace.set("a trace");
    in_task([] {
      EXPECT_EQ(number.get(), nullptr);
      EXPECT_THAT(trace.get(), Pointee(std::string("a trace")));
      in_task([] { EXPECT_THAT(trace.get(), Pointee(std::string("a trace"))); });
    });
  });
}

TEST(TaskLocalTest, AChildOfAGroupInheritsToo) {
  in_task([] {
    trace.set("a trace");
    TaskGroup group;
    EXPECT_TRUE(
        group.spawn("child", [] { EXPECT_THAT(trace.get(), Pointee(std::string("a trace"))); }));
    EXPECT_TRUE(group.join(Deadline::never()));
  });
}

TEST(TaskLocalTest, AChildInheritsACopyFromTheTimeOfSpawning) {
  in_task([] {
    trace.set("before");
    auto child = spawn("child", [] {
      EXPECT_THAT(trace.get(), Pointee(std::string("before")));
      trace.set("the child's");
    });
    trace.set("after");
    EXPECT_TRUE(child.join(Deadline::never()));
    EXPECT_THAT(trace.get(), Pointee(std::string("after")));
  });
}

// Records its end in a list, and may suspend while it ends.
struct Witness {
  Witness(std::vector<std::string>& ends, std::string own_name)
      : list(&ends), name(std::move(own_name)) {}
  Witness(Witness&& other) noexcept
      : list(std::exchange(other.list, nullptr)), name(std::move(other.name)) {}
  Witness& operator=(Witness&&) = delete;
  ~Witness() {
    if (list == nullptr) return;
    EXPECT_TRUE(sleep_for(1s));
    list->push_back(name);
  }

  std::vector<std::string>* list;
  std::string name;
};

struct WitnessHolder {
  std::unique_ptr<Witness> witness;
};
constinit TaskLocal<WitnessHolder> witness;
constinit TaskLocal<WitnessHolder> late_witness;

TEST(TaskLocalTest, ValuesEndWithTheirTaskInsideItAfterItsCaptures) {
  std::vector<std::string> ends;
  auto task = spawn("task", [&ends, captured = Witness(ends, "captured")] {
    witness.set({std::make_unique<Witness>(ends, "value")});
  });
  EXPECT_TRUE(task.join(Deadline::never()));
  EXPECT_THAT(ends, ElementsAre("captured", "value"));
}

TEST(TaskLocalTest, AValueThatIsSetWhileOthersEndEndsToo) {
  struct Setter {
    std::vector<std::string>* ends;
    ~Setter() { late_witness.set({std::make_unique<Witness>(*ends, "late")}); }
  };
  static TaskLocal<std::unique_ptr<Setter>> setter;
  std::vector<std::string> ends;
  in_task([&] { setter.set(std::make_unique<Setter>(&ends)); });
  EXPECT_THAT(ends, ElementsAre("late"));
}

TEST(TaskLocalTest, TheLoopHasNoValue) {
  bool looked = false;
  Scheduler::current().post([&] {
    EXPECT_EQ(number.get(), nullptr);
    looked = true;
  });
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_TRUE(looked);
}

TEST(TaskLocalDeathTest, SettingAValueOnTheLoopAborts) {
  const auto set_on_loop = [] {
    Scheduler::current().post([] { number.set(1); });
    static_cast<void>(sleep_for(1s));
  };
  EXPECT_DEATH(set_on_loop(), "only a task has task-local values");
}

}  // namespace
}  // namespace corolane::coroutine
