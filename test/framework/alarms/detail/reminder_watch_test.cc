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

// The addresses of the types are in another order than their names.
TEST(ReminderWatchTest, ObjectsOfOneTimeAreWokenInTheOrderOfTheirNames) {
  Fence fence;
  fence.set(TimePoint::max());
  Ownership ownership(fence);
  for (Partition partition = 0; partition < partition_count_min; ++partition) {
    ownership.set_epoch(partition, 1);
  }
  std::array<NamedType, 3> types = {NamedType("Guild", ownership), NamedType("Room", ownership),
                                    NamedType("Player", ownership)};
  MemoryStore store;
  Log log{LogLevel::error, [](std::string_view) {}};
  std::vector<std::string> woken;
  const WallClock clock{test::utc("2026-03-01 12:00:00")};
  ReminderWatch watch(
      {}, store, clock, log, [](Partition) { return true; },
      [&](RemindedType& type, std::string_view id) -> Result<void> {
        woken.push_back(std::string(type.name()) + "/" + std::string(id));
        return {};
      });
  ASSERT_TRUE(watch.start({&types[0], &types[1], &types[2]}));
  const WallTime time = clock.now() + 10s;
  watch.note(types[1], "a", time);
  watch.note(types[2], "b", time);
  watch.note(types[2], "a", time);
  watch.note(types[0], "z", time);
  watch.note(types[1], "z", time - 1s);
  EXPECT_TRUE(coroutine::sleep_for(11s));
  watch.stop();
  EXPECT_THAT(woken, ElementsAre("Room/z", "Guild/z", "Player/a", "Player/b", "Room/a"));
}

}  // namespace
}  // namespace corolane::framework::detail
