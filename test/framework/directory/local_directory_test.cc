// SPDX-License-Identifier: MIT
#include "framework/directory/local_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "test/framework/directory/watcher.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::fails_with;
using test::soon;
using test::Watcher;
using testing::ElementsAre;
using testing::SizeIs;

void pass(Duration time) { check(coroutine::sleep_for(time).has_value(), "time passes"); }

void put(LocalDirectory& directory, std::string key, Directory::Lease lease = 0) {
  const auto outcome =
      directory.commit({.puts = {{.key = std::move(key), .lease = lease}}}, Deadline::passed());
  ASSERT_TRUE(outcome) << outcome;
  ASSERT_TRUE(outcome->is_done);
}

TEST(LocalDirectoryTest, BelongsToOneProcess) {
  const LocalDirectory directory(0);
  EXPECT_FALSE(directory.is_shared());
  EXPECT_EQ(directory.name(), "local");
}

TEST(LocalDirectoryTest, RevisionsBeginAboveTheFirst) {
  LocalDirectory directory(1'000'000);
  EXPECT_EQ(directory.list("", soon())->revision, 1'000'000u);
  put(directory, "a");
  EXPECT_EQ(directory.list("", soon())->entries[0].created_at, 1'000'001u);
}

TEST(LocalDirectoryTest, ALeaseEndsExactlyWhenItsTimeIsUp) {
  LocalDirectory directory(0);
  const auto lease = directory.grant(6s, soon());
  ASSERT_TRUE(lease) << lease;
  put(directory, "a", *lease);
  const TimePoint start = now();
  pass(5s);
  ASSERT_TRUE(directory.keep_alive(*lease, soon()));
  Watcher watcher(directory, "", 2);
  EXPECT_THAT(watcher.wait_for(1), ElementsAre("a gone @2"));
  EXPECT_EQ(now() - start, 11s);
  EXPECT_THAT(directory.keep_alive(*lease, soon()), fails_with(Code::not_found));
}

TEST(LocalDirectoryTest, RevisionsBeforeItsStartAreOutOfRange) {
  LocalDirectory directory(100);
  const auto ignore = [](const auto&) {};
  EXPECT_THAT(directory.watch("", 100, ignore), fails_with(Code::out_of_range));
  EXPECT_THAT(directory.watch("", 0, ignore), fails_with(Code::out_of_range));
  Watcher watcher(directory, "", 101);
  put(directory, "a");
  EXPECT_THAT(watcher.wait_for(1), ElementsAre("a= @101"));
}

TEST(LocalDirectoryTest, OldChangesAreDropped) {
  LocalDirectory directory(0, {.history_count_max = 3});
  const auto ignore = [](const auto&) {};
  put(directory, "a");                                                                 // 1.
  put(directory, "b");                                                                 // 2.
  ASSERT_TRUE(directory.commit({.puts = {{.key = "c"}}, .removals = {"a"}}, soon()));  // 3.
  EXPECT_THAT(directory.watch("", 1, ignore), fails_with(Code::out_of_range));
  Watcher watcher(directory, "", 2);
  EXPECT_THAT(watcher.wait_for(3), ElementsAre("b= @2", "c= @3", "a gone @3"));
  put(directory, "d");
  put(directory, "e");
  // It must not return half of a transaction.
  EXPECT_THAT(directory.watch("", 3, ignore), fails_with(Code::out_of_range));
  EXPECT_THAT(watcher.wait_for(5), SizeIs(5));
}

TEST(LocalDirectoryTest, AWatchThatFallsBehindEnds) {
  LocalDirectory directory(0, {.history_count_max = 3});
  Watcher watcher(directory, "", 1);
  put(directory, "a");
  watcher.wait_for(1);
  // The watch gets no turn in between.
  for (const char* key : {"b", "c", "d", "e"}) put(directory, key);
  EXPECT_THAT(watcher.join(), fails_with(Code::out_of_range));
  EXPECT_THAT(watcher.texts, ElementsAre("a= @1"));
}

TEST(LocalDirectoryTest, AWatchCallbackMayChangeTheDirectory) {
  LocalDirectory directory(0);
  std::size_t count = 0;
  auto watch = coroutine::spawn("watch", [&] {
    return directory.watch("", 1, [&](const Directory::Change& change) {
      ++count;
      if (change.entry.key.size() < 5) put(directory, change.entry.key + "x");
    });
  });
  put(directory, "x");
  pass(1s);
  EXPECT_EQ(count, 5u);
  watch.cancel();
  EXPECT_THAT(watch.join(Deadline::never()), fails_with(Code::cancelled));
}

}  // namespace
}  // namespace corolane::framework
