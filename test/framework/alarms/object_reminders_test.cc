// SPDX-License-Identifier: MIT
#include "framework/alarms/object_reminders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "framework/wire/objects.pb.h"
#include "test/framework/puppet_stage.h"
#include "test/framework/store/faulty_store.h"
#include "test/framework/time/wall_times.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::FaultyStore;
using test::Puppet;
using test::PuppetStage;
using test::utc;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One run; times are in whole seconds since the start of the test.
struct Came {
  std::string name;
  std::int64_t second;
  std::uint64_t number = 1;
  std::int64_t lateness = 0;
  std::uint64_t missed = 0;

  friend bool operator==(const Came&, const Came&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Came& run) {
    return out << run.name << " at " << run.second << " s, number " << run.number << ", late by "
               << run.lateness << " s, missed " << run.missed;
  }
};

// The message of the error, or "no error".
std::string message_of(const Result<void>& result) {
  return result ? "no error" : result.error().to_string();
}

// Puppets count their runs in their state, too.
// Looks at the store so seldom that days pass quickly.
constexpr detail::ReminderWatch::Options for_days{.look_interval = 1h, .horizon = 2h};

class ObjectRemindersTest : public testing::Test {
 protected:
  ObjectRemindersTest() {
    strings_.on_reminder = [this](Puppet& puppet, const Reminder& reminder) {
      runs_.push_back({.name = std::string(reminder.name),
                       .second = (now() - start_) / 1s,
                       .number = reminder.number,
                       .lateness = reminder.lateness / 1s,
                       .missed = reminder.missed});
      if (!failure_.empty()) return Result<void>(Error(Code::internal, failure_));
      puppet.change().set_value(puppet.state().value() + 1);
      return Result<void>();
    };
  }

  PuppetStage& begin(std::uint64_t epoch, Duration idle_time_max = 5min,
                     const detail::ReminderWatch::Options& reminders = {}) {
    stage_.emplace(
        store_, strings_, epoch,
        detail::ObjectHost::Options{.idle_time_max = idle_time_max, .reminders = reminders},
        clock_);
    return *stage_;
  }
  // Stores all objects.
  void end() {
    EXPECT_TRUE(stage_->host.stop(Deadline::after(10s)));
    stage_.reset();
  }
  // Runs `what` in a turn of the puppet "a".
  Result<void> run(std::function<Result<void>(Puppet&)> what) {
    strings_.run = std::move(what);
    auto reply = stage_->puppet("a").run({});
    if (!reply) return reply.error();
    return {};
  }
  void set(std::function<Result<void>(ObjectReminders reminders)> what) {
    EXPECT_TRUE(run([&](Puppet& puppet) { return what(puppet.reminders()); }));
  }
  // An earlier owner has stored the puppet with a reminder.
  void store_due(const std::string& id, WallTime time) {
    const ObjectKey key = {.type = "corolane.test.Puppet", .id = id};
    ObjectRecord record;
    StoredReminder& reminder = *record.add_reminders();
    reminder.set_name("wake " + id);
    reminder.set_next_milliseconds(time.time_since_epoch().count());
    const std::string bytes = record.SerializeAsString();
    ASSERT_TRUE(table_.seal(key, 1, Deadline::never()));
    ASSERT_TRUE(table_.write(key, 1, 0, {.bytes = bytes, .wake_at = time}, Deadline::never()));
  }
  std::int64_t value() { return stage_->puppet("a").look({}).value().value(); }
  void sleep_until_second(std::int64_t second) {
    ASSERT_TRUE(coroutine::sleep_until(Deadline::at(start_ + second * 1s + 100ms)));
  }
  WallTime second(std::int64_t count) const { return origin_ + std::chrono::seconds(count); }

  MemoryStore table_;
  FaultyStore store_{table_};
  Puppet::Strings strings_;
  const WallTime origin_ = utc("2026-03-01 12:00:00");
  const WallClock clock_{origin_};
  const TimePoint start_ = now();
  std::vector<Came> runs_;
  std::string failure_;
  std::optional<PuppetStage> stage_;
};

TEST_F(ObjectRemindersTest, ComesOnTimeAndOnce) {
  begin(1);
  set([&](ObjectReminders reminders) {
    EXPECT_TRUE(reminders.at("close", second(90)));
    EXPECT_TRUE(reminders.at("past", second(-5)));
    EXPECT_EQ(reminders.find("close"), second(90));
    EXPECT_EQ(reminders.size(), 2U);
    return Result<void>();
  });
  sleep_until_second(1000);
  EXPECT_THAT(runs_, ElementsAre(Came{"past", 0, 1, 5}, Came{"close", 90}));
  set([&](ObjectReminders reminders) {
    EXPECT_EQ(reminders.size(), 0U);
    EXPECT_EQ(reminders.find("close"), std::nullopt);
    return Result<void>();
  });
  EXPECT_EQ(value(), 2);
}

TEST_F(ObjectRemindersTest, WakesAnInactiveObject) {
  begin(1, 3s);
  set([&](ObjectReminders reminders) {
    EXPECT_TRUE(reminders.at("soon", second(20)));
    return reminders.at("late", second(10'000));
  });
  sleep_until_second(19);
  EXPECT_EQ(stage_->statistics().active_count, 0U);
  sleep_until_second(9'999);
  EXPECT_EQ(stage_->statistics().active_count, 0U);
  EXPECT_THAT(runs_, ElementsAre(Came{"soon", 20}));
  sleep_until_second(10'010);
  EXPECT_THAT(runs_, ElementsAre(Came{"soon", 20}, Came{"late", 10'000}));
  EXPECT_EQ(stage_->statistics().activation_count, 3U);
}

TEST_F(ObjectRemindersTest, TheNextOwnerRunsTheMissedReminders) {
  begin(1);
  set([&](ObjectReminders reminders) {
    EXPECT_TRUE(reminders.every("one", second(100), 100s));
    EXPECT_TRUE(reminders.every("all", second(150), 100s, {.missed = ReminderOptions::fire_all}));
    return reminders.every("none", second(175), 100s, {.missed = ReminderOptions::skip});
  });
  sleep_until_second(110);
  end();
  EXPECT_THAT(runs_, ElementsAre(Came{"one", 100}));
  sleep_until_second(410);
  begin(2);
  sleep_until_second(420);
  EXPECT_THAT(runs_, ElementsAre(Came{"one", 100}, Came{"all", 410, 1, 260},
                                 Came{"none", 410, 3, 35}, Came{"one", 410, 4, 210, 2},
                                 Came{"all", 410, 2, 160}, Came{"all", 410, 3, 60}));
  runs_.clear();
  sleep_until_second(510);
  EXPECT_THAT(runs_, ElementsAre(Came{"all", 450, 4}, Came{"none", 475, 4}, Came{"one", 500, 5}));
}

TEST_F(ObjectRemindersTest, ACronExpressionFollowsItsZone) {
  begin(1, 3s, for_days);
  // Noon in UTC is 13:00 in Berlin.
  set([&](ObjectReminders reminders) {
    return reminders.cron("c", "30 13-15 * * *", "Europe/Berlin");
  });
  sleep_until_second(2 * 3'600);
  EXPECT_THAT(runs_, ElementsAre(Came{"c", 1'800, 1}, Came{"c", 1'800 + 3'600, 2}));
  end();
  begin(2, 3s, for_days);
  sleep_until_second(3 * 3'600);
  EXPECT_EQ(runs_.back(), (Came{"c", 1'800 + 2 * 3'600, 3}));
  EXPECT_EQ(runs_.size(), 3U);
}

TEST_F(ObjectRemindersTest, AFailedRunComesAgain) {
  begin(1);
  failure_ = "not now";
  set([&](ObjectReminders reminders) { return reminders.every("a", second(10), 1h); });
  sleep_until_second(25);
  EXPECT_THAT(runs_, ElementsAre(Came{"a", 10}, Came{"a", 11, 1, 1}, Came{"a", 13, 1, 3},
                                 Came{"a", 17, 1, 7}, Came{"a", 25, 1, 15}));
  failure_.clear();
  sleep_until_second(3'620);
  EXPECT_EQ(runs_.size(), 7U);
  EXPECT_EQ(runs_.back(), (Came{"a", 3'610, 2}));
  EXPECT_EQ(stage_->statistics().alarms.reminder_count, 7U);
  EXPECT_EQ(stage_->statistics().alarms.failed_reminder_count, 5U);
  EXPECT_EQ(value(), 2);
}

TEST_F(ObjectRemindersTest, ARunMayCancelOrResetItsReminder) {
  begin(1);
  strings_.on_reminder = [this](Puppet& puppet, const Reminder& reminder) {
    runs_.push_back({.name = std::string(reminder.name), .second = (now() - start_) / 1s});
    if (reminder.name == "a") puppet.reminders().cancel("a");
    if (reminder.name == "b") return puppet.reminders().at("b", second(runs_.back().second + 7));
    return Result<void>();
  };
  set([&](ObjectReminders reminders) {
    EXPECT_TRUE(reminders.every("a", second(10), 10s));
    return reminders.at("b", second(10));
  });
  sleep_until_second(25);
  EXPECT_THAT(runs_, ElementsAre(Came{"a", 10}, Came{"b", 10}, Came{"b", 17}, Came{"b", 24}));
}

TEST_F(ObjectRemindersTest, ACancelledReminderDoesNotCome) {
  begin(1, 3s);
  set([&](ObjectReminders reminders) { return reminders.at("a", second(100)); });
  set([&](ObjectReminders reminders) {
    reminders.cancel("a");
    reminders.cancel("never set");
    return Result<void>();
  });
  sleep_until_second(1'000);
  EXPECT_THAT(runs_, IsEmpty());
  EXPECT_EQ(stage_->statistics().activation_count, 1U);
}

// The changes of a run and its completion are one write.
TEST_F(ObjectRemindersTest, AnUnstoredTickRunsAgainFromThePreviousState) {
  begin(1);
  set([&](ObjectReminders reminders) { return reminders.every("a", second(10), 1h); });
  sleep_until_second(5);
  store_.set_before_write(
      [](const ObjectKey&) { return Result<void>(Error(Code::unavailable, "the disk is slow")); });
  sleep_until_second(11);
  EXPECT_EQ(value(), 1);
  stage_.reset();
  store_.set_before_write(nullptr);
  begin(2);
  sleep_until_second(13);
  ASSERT_EQ(runs_.size(), 2U);
  EXPECT_EQ(runs_[1].number, 1U);
  EXPECT_EQ(value(), 1);
}

TEST_F(ObjectRemindersTest, APartitionWithManyObjectsThatFailDoesNotKeepOthersAsleep) {
  const Partition crowded = partition_of("corolane.test.Puppet", "0");
  strings_.on_activate = [&](Puppet& puppet) -> Result<void> {
    const Partition partition = partition_of("corolane.test.Puppet", puppet.id());
    if (partition == crowded) return Error(Code::internal, "it cannot be activated");
    return {};
  };
  int crowd_count = 0;
  std::vector<std::string> others;
  for (int number = 0; crowd_count < 9 || others.size() < 50; ++number) {
    const std::string id = std::to_string(number);
    const bool is_crowded = partition_of("corolane.test.Puppet", id) == crowded;
    if (is_crowded) ++crowd_count;
    if (!is_crowded && others.size() >= 50) continue;
    if (!is_crowded) others.push_back(id);
    store_due(id, second(10));
  }
  begin(2, 5min, {.due_count_max = 3});
  sleep_until_second(20);
  EXPECT_EQ(runs_.size(), others.size());
}

TEST_F(ObjectRemindersTest, ObjectsThatFailDoNotKeepOthersOfTheirPartitionAsleep) {
  const Partition crowded = partition_of("corolane.test.Puppet", "0");
  std::vector<std::string> ids;
  for (int number = 0; ids.size() < 9; ++number) {
    const std::string id = std::to_string(number);
    if (partition_of("corolane.test.Puppet", id) == crowded) ids.push_back(id);
  }
  strings_.on_activate = [&](Puppet& puppet) -> Result<void> {
    if (puppet.id() == ids.back()) return {};
    return Error(Code::internal, "it cannot be activated");
  };
  for (const std::string& id : ids) {
    // The last one is due last, so a query that is too short finds the others.
    store_due(id, id == ids.back() ? second(11) : second(10));
  }
  sleep_until_second(12);  // All of them fail as soon as they are found.
  begin(2, 5min, {.due_count_max = 3});
  sleep_until_second(30);
  EXPECT_THAT(runs_, testing::SizeIs(1));
}

TEST_F(ObjectRemindersTest, AnActiveObjectThatIsBusyDoesNotKeepOthersAsleep) {
  store_due("busy", second(10));
  store_due("asleep", second(11));
  begin(2, 5min, {.waking_count_max = 1});
  coroutine::Event end("end");
  strings_.run = [&](Puppet&) -> Result<void> {
    end.wait_uncancelled(Deadline::never());
    return {};
  };
  auto busy = coroutine::spawn("call", [&] { static_cast<void>(stage_->puppet("busy").run({})); });
  sleep_until_second(12);
  EXPECT_THAT(runs_, ElementsAre(testing::Field(&Came::name, "wake asleep")));
  end.set();
  ASSERT_TRUE(busy.join(Deadline::never()));
}

TEST_F(ObjectRemindersTest, AnUnavailableStoreIsRetried) {
  begin(1);
  set([&](ObjectReminders reminders) { return reminders.at("a", second(100)); });
  end();
  store_.cut();
  begin(2);
  sleep_until_second(120);
  EXPECT_THAT(runs_, IsEmpty());
  store_.mend();
  sleep_until_second(122);
  EXPECT_THAT(runs_, ElementsAre(testing::Field(&Came::name, "a")));
}

TEST_F(ObjectRemindersTest, PartitionsGainedLaterAreScannedAtOnce) {
  begin(1);
  set([&](ObjectReminders reminders) { return reminders.at("a", second(10)); });
  end();
  begin(2);
  stage_->own_all(0);
  sleep_until_second(13);
  EXPECT_THAT(runs_, IsEmpty());
  stage_->own_all(3);
  stage_->host.ownership_changed();
  sleep_until_second(13);
  ASSERT_TRUE(coroutine::sleep_for(100ms));
  EXPECT_THAT(runs_, ElementsAre(Came{"a", 13, 1, 3}));
}

TEST_F(ObjectRemindersTest, ManyObjectsAreWokenWithinASecond) {
  begin(1, 1s);
  strings_.run = [&](Puppet& puppet) { return puppet.reminders().at("a", second(3'600)); };
  constexpr int count = 5'000;
  for (int i = 0; i < count; ++i) ASSERT_TRUE(stage_->puppet(std::to_string(i)).run({}));
  sleep_until_second(3'590);
  EXPECT_EQ(stage_->statistics().active_count, 0U);
  sleep_until_second(3'601);
  EXPECT_EQ(runs_.size(), static_cast<std::size_t>(count));
}

TEST_F(ObjectRemindersTest, InvalidRemindersAreRefused) {
  begin(1);
  set([&](ObjectReminders reminders) {
    EXPECT_THAT(message_of(reminders.at("", second(1))), HasSubstr("1 to 128 bytes, not 0"));
    EXPECT_THAT(message_of(reminders.at(std::string(129, 'x'), second(1))), HasSubstr("not 129"));
    EXPECT_THAT(message_of(reminders.every("a", second(1), 999ms)),
                HasSubstr("a second at least, not 999 ms"));
    EXPECT_THAT(reminders.cron("a", "61 * * * *", "UTC"), fails_with(Code::invalid_argument));
    EXPECT_THAT(reminders.cron("a", "1 * * * *", "Moon/North"), fails_with(Code::invalid_argument));
    EXPECT_EQ(reminders.size(), 0U);
    for (int i = 0; i < 64; ++i) EXPECT_TRUE(reminders.at(std::to_string(i), WallTime::max()));
    EXPECT_TRUE(reminders.at("63", WallTime::max()));
    const auto one_more = reminders.at("64", second(1));
    EXPECT_THAT(one_more, fails_with(Code::resource_exhausted));
    EXPECT_THAT(message_of(one_more), HasSubstr("Puppet \"a\" has 64 reminders already"));
    return Result<void>();
  });
}

TEST_F(ObjectRemindersTest, InvalidStoredRemindersAreDataLossByName) {
  ObjectRecord record;
  record.add_reminders()->set_name("rent");
  record.mutable_reminders(0)->mutable_cron()->set_expression("when the cows come home");
  const ObjectKey key = {.type = "corolane.test.Puppet", .id = "a"};
  ASSERT_TRUE(store_.seal(key, 1, Deadline::never()));
  ASSERT_TRUE(store_.write(key, 1, 0, {.bytes = record.SerializeAsString()}, Deadline::never()));
  begin(2);
  const auto ran = run([](Puppet&) { return Result<void>(); });
  EXPECT_THAT(ran, fails_with(Code::data_loss));
  EXPECT_THAT(message_of(ran), AllOf(HasSubstr("\"rent\""), HasSubstr("Puppet \"a\"")));
}

}  // namespace
}  // namespace corolane::framework
