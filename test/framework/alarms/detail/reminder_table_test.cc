// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/reminder_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/alarms/detail/alarm.h"
#include "framework/alarms/detail/alarm_runner.h"
#include "framework/store/memory_store.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/time/wall_times.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A table of an object that no host runs: a due reminder runs at once, in no turn, and the test
// stores the object.
class ReminderTableTest : public testing::Test {
 protected:
  ReminderTableTest() {
    strings_.on_reminder = [this](test::Puppet&, const Reminder& reminder) -> Result<void> {
      runs_.push_back(std::string(reminder.name) + " " + std::to_string(reminder.number) + " at " +
                      std::to_string((now() - start_) / 1s));
      if (on_run_ != nullptr) return on_run_(reminder);
      return {};
    };
    EXPECT_TRUE(cell_->activate(Deadline::never()));
    begin();
  }
  ~ReminderTableTest() override { end(); }

  void begin() {
    runner_.emplace(AlarmRunner::Options{}, clock_, log_, [this](std::shared_ptr<Alarm> alarm) {
      ++task_count_;
      return AlarmRunner::Run([alarm = std::move(alarm)] {
        if (!alarm->has_ended()) alarm->run();
      });
    });
    table_.emplace(*runner_, cell_->alarms());
  }
  void end() {
    table_.reset();
    runner_->stop(Deadline::never());
    runner_.reset();
  }
  // A table of the next owner, which has what this one has stored.
  Result<void> move_on() {
    const ObjectRecord record = stored();
    end();
    begin();
    return table_->load(record);
  }
  ObjectRecord stored() const {
    ObjectRecord record;
    table_->store(record);
    return record;
  }
  // Whether the object was changed since the last look.
  bool was_changed() {
    const bool was_changed = cell_->is_changed();
    EXPECT_TRUE(cell_->save(Deadline::never()));
    return was_changed;
  }
  void sleep_until_second(std::int64_t second) {
    ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start_ + second * 1s + 100ms)));
  }
  WallTime second(std::int64_t count) const { return origin_ + std::chrono::seconds(count); }

  MemoryStore store_;
  test::Puppet::Strings strings_;
  test::PuppetStage stage_{store_, strings_};
  std::unique_ptr<ObjectCell> cell_ = stage_.make_cell(stage_.type, "a");
  const WallTime origin_ = test::utc("2026-03-01 12:00:00");
  const WallClock clock_{origin_};
  const TimePoint start_ = now();
  std::string said_;
  Log log_{LogLevel::warning, [this](std::string_view line) { said_ += line; }};
  std::optional<AlarmRunner> runner_;
  std::optional<ReminderTable> table_;
  std::vector<std::string> runs_;  // "NAME NUMBER at SECOND".
  std::function<Result<void>(const Reminder&)> on_run_;
  int task_count_ = 0;
};

TEST_F(ReminderTableTest, AReminderIsFoundByItsName) {
  EXPECT_EQ(table_->wake_at(), std::nullopt);
  ASSERT_TRUE(table_->set_once("late", second(200)));
  ASSERT_TRUE(table_->set_every("soon", second(100), 10s, {}));
  EXPECT_EQ(table_->find("late"), second(200));
  EXPECT_EQ(table_->find("soon"), second(100));
  EXPECT_EQ(table_->find("never set"), std::nullopt);
  EXPECT_EQ(table_->size(), 2U);
  EXPECT_EQ(table_->wake_at(), second(100)) << "the earliest, in whatever order they were set";
  table_->cancel("soon");
  EXPECT_EQ(table_->wake_at(), second(200));
}

TEST_F(ReminderTableTest, SettingOneAgainReplacesIt) {
  ASSERT_TRUE(table_->set_every("a", second(10), 10s, {}));
  sleep_until_second(20);
  ASSERT_TRUE(table_->set_every("a", second(100), 10s, {}));
  EXPECT_EQ(table_->size(), 1U);
  sleep_until_second(110);
  EXPECT_THAT(runs_, ElementsAre("a 1 at 10", "a 2 at 20", "a 1 at 100", "a 2 at 110"));
}

TEST_F(ReminderTableTest, EachChangeOfTheTableChangesTheObject) {
  EXPECT_FALSE(was_changed());
  ASSERT_TRUE(table_->set_once("a", second(10)));
  EXPECT_TRUE(was_changed());
  table_->cancel("never set");
  EXPECT_FALSE(was_changed());
  EXPECT_FALSE(table_->set_once("", second(10)));
  EXPECT_FALSE(was_changed());
  ASSERT_TRUE(table_->set_once("b", second(20)));
  table_->cancel("a");
  EXPECT_TRUE(was_changed());
  sleep_until_second(20);
  EXPECT_THAT(runs_, ElementsAre("b 1 at 20"));
  EXPECT_TRUE(was_changed()) << "that it has run is stored";
}

TEST_F(ReminderTableTest, AReminderThatComesOnceIsGoneAfterItsRun) {
  ASSERT_TRUE(table_->set_once("a", second(10)));
  sleep_until_second(9);
  EXPECT_EQ(table_->size(), 1U);
  sleep_until_second(10);
  EXPECT_EQ(table_->size(), 0U);
  EXPECT_EQ(stored().reminders_size(), 0);
}

TEST_F(ReminderTableTest, TheLongestDueRunsFirst) {
  ASSERT_TRUE(table_->set_once("yesterday", second(-86'400)));
  ASSERT_TRUE(table_->set_once("last year", second(-365 * 86'400)));
  ASSERT_TRUE(table_->set_once("an hour ago", second(-3'600)));
  sleep_until_second(0);
  EXPECT_THAT(runs_, ElementsAre("last year 1 at 0", "yesterday 1 at 0", "an hour ago 1 at 0"));
  EXPECT_EQ(task_count_, 3) << "other calls may have turns in between";
}

// The wall clock may be set meanwhile, so it is looked at each minute; that takes no stack.
TEST_F(ReminderTableTest, AReminderTakesNoTaskBeforeItIsDue) {
  ASSERT_TRUE(table_->set_once("a", second(3'600)));
  sleep_until_second(3'599);
  EXPECT_EQ(task_count_, 0);
  sleep_until_second(3'600);
  EXPECT_THAT(runs_, ElementsAre("a 1 at 3600"));
  EXPECT_EQ(task_count_, 1);
}

TEST_F(ReminderTableTest, AFailedRunIsRepeatedAfterGrowingPauses) {
  on_run_ = [](const Reminder&) { return Result<void>(Error(Code::internal, "not now")); };
  ASSERT_TRUE(table_->set_once("a", second(0)));
  EXPECT_TRUE(was_changed());
  sleep_until_second(250);
  EXPECT_THAT(runs_,
              ElementsAre("a 1 at 0", "a 1 at 1", "a 1 at 3", "a 1 at 7", "a 1 at 15", "a 1 at 31",
                          "a 1 at 63", "a 1 at 123", "a 1 at 183", "a 1 at 243"));
  EXPECT_FALSE(was_changed()) << "nothing came of them";
  EXPECT_EQ(stage_.type.counts.alarms.failed_reminder_count, 10U);
  EXPECT_THAT(said_, HasSubstr("not now"));
  on_run_ = nullptr;
  sleep_until_second(310);
  EXPECT_EQ(table_->size(), 0U);
  EXPECT_EQ(stage_.type.counts.alarms.reminder_count, 11U);
}

TEST_F(ReminderTableTest, TheReminderThatFailsMostIsToldWithItsErrorUntilItSucceeds) {
  on_run_ = [](const Reminder& reminder) -> Result<void> {
    if (reminder.name == "good") return {};
    return Error(Code::internal, "not now");
  };
  ASSERT_TRUE(table_->set_once("bad", second(0)));
  ASSERT_TRUE(table_->set_once("good", second(0)));
  sleep_until_second(2);
  const auto failing = table_->failing();
  ASSERT_TRUE(failing);
  EXPECT_EQ(failing->name, "bad");
  EXPECT_EQ(failing->failed_count, 2U);
  EXPECT_THAT(failing->error, HasSubstr("not now"));
  EXPECT_GT(failing->comes_again_in, 0s);
  EXPECT_LE(failing->comes_again_in, 1s);
  on_run_ = nullptr;
  sleep_until_second(4);
  EXPECT_FALSE(table_->failing());
}

TEST_F(ReminderTableTest, ARunAfterFailuresBeginsWithAShortPauseAgain) {
  on_run_ = [this](const Reminder&) -> Result<void> {
    if (runs_.size() == 3) return {};
    return Error(Code::internal, "not now");
  };
  ASSERT_TRUE(table_->set_every("a", second(0), 100s, {}));
  sleep_until_second(101);
  EXPECT_THAT(runs_, ElementsAre("a 1 at 0", "a 1 at 1", "a 1 at 3", "a 2 at 100", "a 2 at 101"));
}

TEST_F(ReminderTableTest, AFailingReminderDelaysNoOther) {
  on_run_ = [](const Reminder& reminder) -> Result<void> {
    if (reminder.name == "good") return {};
    return Error(Code::internal, "not now");
  };
  ASSERT_TRUE(table_->set_once("bad", second(0)));
  ASSERT_TRUE(table_->set_every("good", second(2), 2s, {}));
  sleep_until_second(6);
  EXPECT_THAT(runs_, ElementsAre("bad 1 at 0", "bad 1 at 1", "good 1 at 2", "bad 1 at 3",
                                 "good 2 at 4", "good 3 at 6"));
}

TEST_F(ReminderTableTest, ARunMayCancelItsReminder) {
  on_run_ = [this](const Reminder& reminder) {
    table_->cancel(reminder.name);
    return Result<void>();
  };
  ASSERT_TRUE(table_->set_every("a", second(10), 10s, {}));
  ASSERT_TRUE(table_->set_once("b", second(40)));
  sleep_until_second(50);
  EXPECT_THAT(runs_, ElementsAre("a 1 at 10", "b 1 at 40"));
}

// Neither the outcome of the run nor its failures apply to the new reminder.
TEST_F(ReminderTableTest, ARunMaySetItsReminderAgain) {
  on_run_ = [this](const Reminder& reminder) -> Result<void> {
    EXPECT_TRUE(table_->set_once(reminder.name, second(runs_.size() == 1 ? 10 : 30)));
    if (runs_.size() < 3) return Error(Code::internal, "it has set another one");
    table_->cancel(reminder.name);
    return {};
  };
  ASSERT_TRUE(table_->set_once("a", second(10)));
  sleep_until_second(100);
  EXPECT_THAT(runs_, ElementsAre("a 1 at 10", "a 1 at 10", "a 1 at 30"));
}

TEST_F(ReminderTableTest, ARunMaySetOthers) {
  on_run_ = [this](const Reminder&) -> Result<void> {
    if (runs_.size() > 1) return {};
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(table_->set_once("more " + std::to_string(i), second(1'000)));
    }
    return {};
  };
  ASSERT_TRUE(table_->set_every("a", second(10), 10s, {}));
  sleep_until_second(20);
  EXPECT_THAT(runs_, ElementsAre("a 1 at 10", "a 2 at 20"));
  EXPECT_EQ(table_->size(), 51U);
}

TEST_F(ReminderTableTest, ATickThatIsTooLateToRunIsSkippedAndStored) {
  ASSERT_TRUE(table_->set_every("a", second(-10'000), 6'000s, {.missed = ReminderOptions::skip}));
  EXPECT_TRUE(was_changed());
  sleep_until_second(1'999);
  EXPECT_THAT(runs_, IsEmpty());
  EXPECT_TRUE(was_changed());
  EXPECT_EQ(table_->find("a"), second(2'000));
  sleep_until_second(2'000);
  EXPECT_THAT(runs_, ElementsAre("a 3 at 2000"));
}

TEST_F(ReminderTableTest, TheNextOwnerContinuesTheCount) {
  ASSERT_TRUE(table_->set_every("a", second(10), 10s, {}));
  ASSERT_TRUE(table_->set_cron("c", "30 13 * * *", "Europe/Berlin", {}));
  ASSERT_TRUE(table_->set_once("o", second(25)));
  sleep_until_second(20);
  ASSERT_TRUE(move_on());
  EXPECT_EQ(table_->find("a"), second(30));
  EXPECT_EQ(table_->find("c"), second(1'800)) << "half past one, an hour ahead of UTC";
  sleep_until_second(30);
  EXPECT_THAT(runs_, ElementsAre("a 1 at 10", "a 2 at 20", "o 1 at 25", "a 3 at 30"));
}

// Its node may have failed to run them, so the next one tries at once.
TEST_F(ReminderTableTest, ThePausesAfterFailuresAreNotStored) {
  on_run_ = [](const Reminder&) { return Result<void>(Error(Code::internal, "not now")); };
  ASSERT_TRUE(table_->set_once("a", second(0)));
  sleep_until_second(40);
  runs_.clear();
  ASSERT_TRUE(move_on());
  sleep_until_second(42);
  EXPECT_THAT(runs_, ElementsAre("a 1 at 40", "a 1 at 41"));
}

TEST_F(ReminderTableTest, AnInvalidStoredReminderFailsTheLoad) {
  ObjectRecord record;
  record.add_reminders()->set_name("rent");
  record.mutable_reminders(0)->mutable_cron()->set_expression("when the cows come home");
  const auto loaded = table_->load(record);
  ASSERT_THAT(loaded, fails_with(Code::data_loss));
  EXPECT_THAT(loaded.error().message(), HasSubstr("rent"));
}

TEST_F(ReminderTableTest, ATableThatIsGoneRunsNothing) {
  ASSERT_TRUE(table_->set_once("a", second(10)));
  sleep_until_second(9);
  table_.reset();
  sleep_until_second(20);
  EXPECT_THAT(runs_, IsEmpty());
}

TEST_F(ReminderTableTest, ATableHasAtMost64Reminders) {
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(table_->set_once(std::to_string(i), second(1'000)));
  }
  EXPECT_THAT(table_->set_once("64", second(1'000)), fails_with(Code::resource_exhausted));
  EXPECT_TRUE(table_->set_once("63", second(2'000))) << "that one is there already";
  table_->cancel("0");
  EXPECT_TRUE(table_->set_once("64", second(1'000)));
}

}  // namespace
}  // namespace corolane::framework::detail
