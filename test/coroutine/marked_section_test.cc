// SPDX-License-Identifier: MIT
// The steps that an observer of marked sections sees.
#include "coroutine/marked_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/async/async.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_meter.h"

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// Notes each moment, such as "bid +1" for the first suspension and "bid -1" for its end.
class Notes final : public SectionObserver {
 public:
  Notes() : previous_(MarkedSection::set_observer(this)) {}
  ~Notes() override { MarkedSection::set_observer(previous_); }
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;

  void on_step_ended(const MarkedSection& section, std::uint32_t steps) override {
    all.push_back(std::string(section.name()) + " -" + std::to_string(steps));
    if (pause != Duration::zero()) {
      EXPECT_TRUE(sleep_for(pause));
    }
  }
  void on_step_suspends(const MarkedSection& section, std::uint32_t step) override {
    all.push_back(std::string(section.name()) + " +" + std::to_string(step));
  }

  std::vector<std::string> all;
  Duration pause{};

 private:
  SectionObserver* const previous_;
};

TEST(MarkedSectionTest, EachSuspensionIsAStep) {
  Notes notes;
  {
    const MarkedSection section("bid");
    EXPECT_TRUE(sleep_for(1s));
    EXPECT_TRUE(yield());
  }
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_THAT(notes.all, ElementsAre("bid -0", "bid +1", "bid -1", "bid +2", "bid -2"));
}

TEST(MarkedSectionTest, ACallThatDoesNotSuspendIsNoStep) {
  Notes notes;
  Event open("a door");
  open.set();
  const MarkedSection section("bid");
  EXPECT_TRUE(open.wait(Deadline::never()));
  EXPECT_THAT(notes.all, ElementsAre("bid -0"));
}

TEST(MarkedSectionTest, TheSuspensionsOfOtherTasksAreNoSteps) {
  Notes notes;
  Event asked("a question");
  auto other = spawn("other", [&] {
    EXPECT_TRUE(yield());
    EXPECT_TRUE(sleep_for(1s));
    asked.set();
  });
  const MarkedSection section("bid");
  EXPECT_TRUE(asked.wait(Deadline::never()));
  EXPECT_TRUE(other.join(Deadline::never()));
  EXPECT_THAT(notes.all, testing::Contains("bid +1").Times(1));
  EXPECT_LE(notes.all.size(), 5u);
}

TEST(MarkedSectionTest, SectionsOfSeveralTasksAreToldApart) {
  Notes notes;
  auto other = spawn("other", [&] {
    const MarkedSection section("ask");
    EXPECT_TRUE(sleep_for(2s));
  });
  {
    const MarkedSection section("bid");
    EXPECT_TRUE(sleep_for(1s));
  }
  EXPECT_TRUE(other.join(Deadline::never()));
  EXPECT_THAT(notes.all, testing::UnorderedElementsAre("bid -0", "bid +1", "ask -0", "ask +1",
                                                       "bid -1", "ask -1"));
}

TEST(MarkedSectionTest, AStepBelongsToTheInnermostSection) {
  Notes notes;
  const MarkedSection outer("outer");
  {
    const MarkedSection inner("inner");
    EXPECT_TRUE(yield());
  }
  EXPECT_TRUE(yield());
  EXPECT_THAT(notes.all,
              ElementsAre("outer -0", "inner -0", "inner +1", "inner -1", "outer +1", "outer -1"));
}

TEST(MarkedSectionTest, TheObserverMaySuspendTheTaskWhenAStepHasEnded) {
  Notes notes;
  notes.pause = 1s;
  const TimePoint start = now();
  const MarkedSection section("bid");
  EXPECT_TRUE(sleep_for(1s));
  EXPECT_EQ(now() - start, 3s);
  EXPECT_THAT(notes.all, ElementsAre("bid -0", "bid +1", "bid -1"));
}

TEST(MarkedSectionTest, ATaskMeterCountsAsBefore) {
  Notes notes;
  TaskMeter meter;
  const MarkedSection section("bid");
  EXPECT_TRUE(yield());
  EXPECT_TRUE(yield());
  const auto cost = meter.end();
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->suspension_count, 2u);
  EXPECT_THAT(notes.all, testing::SizeIs(5));
}

TEST(MarkedSectionTest, NothingIsObservedWithoutAnObserver) {
  std::vector<std::string> all;
  const MarkedSection before("before");
  {
    Notes notes;
    EXPECT_TRUE(yield());
    all = notes.all;
  }
  EXPECT_THAT(all, IsEmpty());
}

TEST(MarkedSectionTest, AStacklessCoroutineHasNoSections) {
  Notes notes;
  const auto mark = []() -> Async<void> {
    const MarkedSection section("bid");
    static_cast<void>(co_await until(Deadline::after(1s)));
    co_return {};
  };
  EXPECT_TRUE(await(mark()));
  EXPECT_THAT(notes.all, IsEmpty());
}

}  // namespace
}  // namespace corolane::coroutine
