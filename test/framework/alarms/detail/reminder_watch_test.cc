// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/reminder_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "framework/store/memory_store.h"
#include "test/framework/time/wall_times.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class NamedType final : public RemindedType {
 public:
  NamedType(std::string name, const Ownership& ownership)
      : name_(std::move(name)), ownership_(ownership) {}

  std::string_view name() const override { return name_; }
  const Ownership& ownership() const override { return ownership_; }
  Partition partition_of(std::string_view id) const override {
    return framework::partition_of(name_, id);
  }

 private:
  const std::string name_;
  const Ownership& ownership_;
};

class ReminderWatchTest : public testing::Test {
 protected:
  ReminderWatchTest() {
    fence_.set(TimePoint::max());
    for (Partition partition = 0; partition < partition_count_min; ++partition) {
      ownership_.set_epoch(partition, 1);
    }
  }

  // "Room/a".
  std::vector<std::string> woken_;
  Fence fence_;
  Ownership ownership_{fence_};
  MemoryStore store_;
  Log log_{LogLevel::error, [](std::string_view) {}};
  const WallClock clock_{test::utc("2026-03-01 12:00:00")};
  ReminderWatch watch_{{},
                       store_,
                       clock_,
                       log_,
                       [](Partition) { return true; },
                       [this](RemindedType& type, std::string_view id) -> Result<void> {
                         woken_.push_back(std::string(type.name()) + "/" + std::string(id));
                         return {};
                       }};
};

// The addresses of the types are in another order than their names.
TEST_F(ReminderWatchTest, ObjectsOfOneTimeAreWokenInTheOrderOfTheirNames) {
  std::array<NamedType, 3> types = {NamedType("Guild", ownership_), NamedType("Room", ownership_),
                                    NamedType("Player", ownership_)};
  ASSERT_TRUE(watch_.start({&types[0], &types[1], &types[2]}));
  const WallTime time = clock_.now() + 10s;
  watch_.note(types[1], "a", time);
  watch_.note(types[2], "b", time);
  watch_.note(types[2], "a", time);
  watch_.note(types[0], "z", time);
  watch_.note(types[1], "z", time - 1s);
  EXPECT_TRUE(coroutine::sleep_for(11s));
  watch_.stop();
  EXPECT_THAT(woken_, ElementsAre("Room/z", "Guild/z", "Player/a", "Player/b", "Room/a"));
}

// An earlier build had another affinity, and stored the object there.
TEST_F(ReminderWatchTest, AnObjectThatCallsFindInAnotherPartitionIsNotWoken) {
  NamedType type("Room", ownership_);
  const auto store_in = [&](std::string_view id, Partition partition) {
    const ObjectKey key{.type = "Room", .id = id, .partition = partition};
    ASSERT_TRUE(store_.seal(key, 1, Deadline::never()));
    const auto written =
        store_.write(key, 1, 0, {.bytes = "", .wake_at = clock_.now() + 10s}, Deadline::never());
    ASSERT_TRUE(written) << written;
  };
  store_in("here", type.partition_of("here"));
  store_in("there", static_cast<Partition>((type.partition_of("there") + 1) % partition_count_min));
  ASSERT_TRUE(watch_.start({&type}));
  EXPECT_TRUE(coroutine::sleep_for(2min));
  watch_.stop();
  EXPECT_THAT(woken_, testing::Contains("Room/here"));
  EXPECT_THAT(woken_, testing::Not(testing::Contains("Room/there")));
}

}  // namespace
}  // namespace corolane::framework::detail
