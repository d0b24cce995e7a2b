// SPDX-License-Identifier: MIT
// The contract of framework/store/store.h, for every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/programs.h"
#include "coroutine/testing/random.h"
#include "framework/store/memory_store.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/store/backends.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using test::fails_with;
using test::soon;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ObjectKey alice = {.type = "chess.Player", .id = "alice"};
constexpr ObjectKey bob = {.type = "chess.Player", .id = "bob"};
constexpr WallTime noon(1'700'000'000'000ms);

// The version that seal() finds.
std::uint64_t version_of(Store& store, const ObjectKey& key, std::uint64_t epoch) {
  const auto sealed = store.seal(key, epoch, soon());
  EXPECT_TRUE(sealed) << sealed;
  return sealed ? sealed->version : std::numeric_limits<std::uint64_t>::max();
}

std::string bytes_of(Store& store, const ObjectKey& key, std::uint64_t epoch) {
  const auto sealed = store.seal(key, epoch, soon());
  EXPECT_TRUE(sealed) << sealed;
  return sealed ? sealed->bytes : "?";
}

Result<void> write(Store& store, const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                   std::string_view bytes, std::optional<WallTime> wake_at = {}) {
  return store.write(key, epoch, version, {.bytes = bytes, .wake_at = wake_at}, soon());
}

// Ids in one partition, in their order.
std::vector<std::string> neighbours(std::size_t count) {
  const Partition partition = partition_of(alice.type, "0");
  std::vector<std::string> ids;
  for (int number = 0; ids.size() < count; ++number) {
    std::string id = std::to_string(number);
    if (partition_of(alice.type, id) == partition) ids.push_back(std::move(id));
  }
  std::ranges::sort(ids);
  return ids;
}

class StoreContractTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    backend_ = test::make_store_backend(GetParam());
    COROLANE_NEEDS(backend_->missing());
  }

  // Runs `body` on a shard of its own, whose store is closed afterwards.
  void run(const std::function<void(Store&)>& body) { backend_->run(body); }
  bool is_for_threads() const { return backend_->is_for_threads(); }
  static bool is_for_one_process() {
    const std::string_view store = GetParam();
    return store == "sqlite" || store == "recorded";
  }

 private:
  std::unique_ptr<test::StoreBackend> backend_;
};

TEST_P(StoreContractTest, AnObjectBeginsEmptyWithVersionZero) {
  run([](Store& store) {
    const auto sealed = store.seal(alice, 1, soon());
    ASSERT_TRUE(sealed) << sealed;
    EXPECT_EQ(sealed->version, 0u);
    EXPECT_EQ(sealed->bytes, "");
  });
}

TEST_P(StoreContractTest, WrittenObjectsSurviveAReopening) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    EXPECT_TRUE(write(store, alice, 1, 0, "first"));
    EXPECT_TRUE(write(store, alice, 1, 1, "second"));
  });
  run([](Store& store) {
    const auto sealed = store.seal(alice, 2, soon());
    ASSERT_TRUE(sealed) << sealed;
    EXPECT_EQ(sealed->version, 2u);
    EXPECT_EQ(sealed->bytes, "second");
    EXPECT_EQ(version_of(store, bob, 2), 0u) << "another object";
  });
}

TEST_P(StoreContractTest, APastOwnerWritesNothing) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 7, soon()));
    ASSERT_TRUE(write(store, alice, 7, 0, "of the first owner"));
    ASSERT_TRUE(store.seal(alice, 9, soon()));

    const auto late = write(store, alice, 7, 1, "too late");
    ASSERT_THAT(late, fails_with(Code::aborted));
    EXPECT_FALSE(late.error().maybe_executed());
    EXPECT_THAT(late.error().message(),
                AllOf(HasSubstr("chess.Player \"alice\""), HasSubstr("epoch 9, version 1"),
                      HasSubstr("epoch 7, version 1")));
    EXPECT_EQ(bytes_of(store, alice, 9), "of the first owner");
    EXPECT_TRUE(write(store, alice, 9, 1, "of the second owner"));
  });
}

TEST_P(StoreContractTest, AWriteThatExpectsAnotherVersionChangesNothing) {
  run([](Store& store) {
    const Partition partition = partition_of(alice.type, alice.id);
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(write(store, alice, 1, 0, "first", noon));

    for (const std::uint64_t wrong : {0u, 2u}) {
      const auto refused = write(store, alice, 1, wrong, "wrong", noon + 1h);
      ASSERT_THAT(refused, fails_with(Code::aborted));
      EXPECT_THAT(refused.error().message(), HasSubstr("epoch 1, version 1"));
    }
    EXPECT_EQ(bytes_of(store, alice, 1), "first");
    EXPECT_EQ(version_of(store, alice, 1), 1u);
    const auto due = store.due(partition, noon + 1h, 10, soon());
    ASSERT_TRUE(due) << due.error();
    EXPECT_THAT(*due,
                ElementsAre(DueObject{.type = "chess.Player", .id = "alice", .wake_at = noon}));
  });
}

TEST_P(StoreContractTest, AWriteMaySkipVersions) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(store.write(alice, 1, 0, {.bytes = "later", .new_version = 7}, soon()));
    EXPECT_EQ(version_of(store, alice, 1), 7u);
    EXPECT_THAT(write(store, alice, 1, 1, "late"), fails_with(Code::aborted));
    EXPECT_TRUE(write(store, alice, 1, 7, "next"));
    EXPECT_EQ(version_of(store, alice, 1), 8u);
  });
}

TEST_P(StoreContractTest, AWriteWithoutASealIsRefused) {
  run([](Store& store) {
    EXPECT_THAT(write(store, alice, 1, 0, "nobody's"), fails_with(Code::aborted));
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    EXPECT_THAT(write(store, alice, 2, 0, "a later owner's"), fails_with(Code::aborted));
    EXPECT_EQ(version_of(store, alice, 2), 0u);
  });
}

TEST_P(StoreContractTest, AnEarlierEpochCannotSeal) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 9, soon()));
    const auto refused = store.seal(alice, 8, soon());
    ASSERT_THAT(refused, fails_with(Code::aborted));
    EXPECT_FALSE(refused.error().maybe_executed());
    EXPECT_THAT(refused.error().message(), AllOf(HasSubstr("chess.Player \"alice\""),
                                                 HasSubstr("epoch 9"), HasSubstr("than 8")));
    EXPECT_TRUE(write(store, alice, 9, 0, "the later one stays the owner"));
  });
}

TEST_P(StoreContractTest, AnOwnerSealsAgainToLearnOfItsWrites) {
  run([](Store& store) {
    for (std::uint64_t version = 0; version < 3; ++version) {
      EXPECT_EQ(version_of(store, alice, 5), version);
      ASSERT_TRUE(write(store, alice, 5, version, "state " + std::to_string(version + 1)));
      EXPECT_EQ(bytes_of(store, alice, 5), "state " + std::to_string(version + 1));
    }
  });
}

TEST_P(StoreContractTest, ANameThatWasOnlyReadIsReleased) {
  run([](Store& store) {
    EXPECT_EQ(version_of(store, alice, 5), 0U);
    EXPECT_TRUE(store.release(alice, 5, soon()));
    EXPECT_THAT(write(store, alice, 5, 0, "without a seal"), fails_with(Code::aborted));
    EXPECT_EQ(version_of(store, alice, 5), 0U) << "as if it had never been asked for";
    EXPECT_TRUE(store.release(alice, 5, soon()));
    EXPECT_TRUE(store.release(alice, 5, soon())) << "nothing is there";
    EXPECT_EQ(version_of(store, alice, 6), 0U);
    EXPECT_TRUE(write(store, alice, 6, 0, "first"));
  });
}

TEST_P(StoreContractTest, AWrittenObjectIsKeptWhenItIsReleased) {
  run([](Store& store) {
    EXPECT_EQ(version_of(store, alice, 5), 0U);
    EXPECT_TRUE(write(store, alice, 5, 0, "first", noon));
    EXPECT_TRUE(store.release(alice, 5, soon()));
    EXPECT_EQ(bytes_of(store, alice, 6), "first");
    EXPECT_TRUE(store.release(alice, 6, soon()));
    EXPECT_EQ(bytes_of(store, alice, 7), "first");
    EXPECT_TRUE(write(store, alice, 7, 1, "second"));
  });
  run([](Store& store) { EXPECT_EQ(bytes_of(store, alice, 8), "second"); });
}

TEST_P(StoreContractTest, APastOwnerReleasesNothing) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 7, soon()));
    ASSERT_TRUE(store.seal(alice, 9, soon()));
    EXPECT_TRUE(store.release(alice, 7, soon()));
    EXPECT_THAT(store.seal(alice, 8, soon()), fails_with(Code::aborted));
    EXPECT_TRUE(write(store, alice, 9, 0, "of the owner"));
  });
}

// It could answer after the owner that has released the object, and would not notice.
TEST_P(StoreContractTest, APastOwnerSealsNothingThatALaterOneHasReleased) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 7, soon()));
    ASSERT_TRUE(store.seal(alice, 9, soon()));
    ASSERT_TRUE(store.release(alice, 9, soon()));
    EXPECT_THAT(write(store, alice, 7, 0, "of the past"), fails_with(Code::aborted));
    EXPECT_THAT(store.seal(alice, 8, soon()), fails_with(Code::aborted));
    EXPECT_TRUE(store.seal(alice, 9, soon()));
    EXPECT_TRUE(write(store, alice, 9, 0, "of the owner"));
  });
}

TEST_P(StoreContractTest, ATombstoneIsARowUntilItIsForgotten) {
  const Partition partition = partition_of(alice.type, alice.id);
  run([&](Store& store) {
    ASSERT_TRUE(store.seal(alice, 5, soon()));
    ASSERT_TRUE(write(store, alice, 5, 0, "first", noon));
    const ObjectWrite last = {.bytes = "what remains", .forget_at = noon + 1h};
    ASSERT_TRUE(store.write(alice, 5, 1, last, soon()));
    EXPECT_EQ(store.forget(partition, noon + 1h - 1ms, 10, soon()), 0U);
    EXPECT_THAT(store.seal(alice, 4, soon()), fails_with(Code::aborted));
    EXPECT_THAT(write(store, alice, 5, 1, "of the past"), fails_with(Code::aborted));
    EXPECT_EQ(store.due(partition, WallTime::max(), 10, soon()), std::vector<DueObject>());
  });
  run([&](Store& store) {
    EXPECT_EQ(store.seal(alice, 6, soon()),
              (StoredObject{.version = 2, .bytes = "what remains", .is_tombstone = true}));
    EXPECT_EQ(store.forget(partition, noon + 1h, 10, soon()), 1U);
    EXPECT_EQ(store.forget(partition, noon + 1h, 10, soon()), 0U);
    EXPECT_THAT(write(store, alice, 6, 2, "without a row"), fails_with(Code::aborted));
    EXPECT_THAT(store.seal(alice, 5, soon()), fails_with(Code::aborted)) << "of the past";
    EXPECT_EQ(store.seal(alice, 6, soon()), StoredObject());
    EXPECT_TRUE(write(store, alice, 6, 0, "a new one"));
  });
}

TEST_P(StoreContractTest, AnObjectThatIsWrittenAgainIsNotForgotten) {
  const Partition partition = partition_of(alice.type, alice.id);
  const ObjectWrite last = {.bytes = "", .forget_at = noon};
  run([&](Store& store) {
    ASSERT_TRUE(store.seal(alice, 5, soon()));
    ASSERT_TRUE(store.write(alice, 5, 0, last, soon()));
    ASSERT_TRUE(write(store, alice, 5, 1, "alive"));
    EXPECT_TRUE(store.forget(partition, noon, 10, soon()));
    EXPECT_EQ(store.seal(alice, 5, soon()), (StoredObject{.version = 2, .bytes = "alive"}));
    ASSERT_TRUE(store.write(alice, 5, 2, last, soon()));
  });
  run([&](Store& store) {
    EXPECT_EQ(store.forget(partition, noon, 10, soon()), 1U);
    EXPECT_EQ(store.seal(alice, 5, soon()), StoredObject());
  });
}

TEST_P(StoreContractTest, TheOldestTombstonesOfOnePartitionAreForgottenFirst) {
  run([](Store& store) {
    const std::vector<std::string> ids = neighbours(3);
    const std::string elsewhere = [&] {
      for (int number = 0;; ++number) {
        std::string id = "x" + std::to_string(number);
        if (partition_of(alice.type, id) != partition_of(alice.type, ids[0])) return id;
      }
    }();
    const auto destroy = [&](const std::string& id, WallTime forget_at) {
      const ObjectKey key = {.type = alice.type, .id = id};
      ASSERT_TRUE(store.seal(key, 1, soon()));
      ASSERT_TRUE(store.write(key, 1, 0, {.bytes = "", .forget_at = forget_at}, soon()));
    };
    destroy(ids[0], noon + 2ms);
    destroy(ids[1], noon + 1ms);
    destroy(ids[2], noon + 3ms);
    destroy(elsewhere, noon);
    EXPECT_EQ(store.forget(partition_of(alice.type, ids[0]), noon + 9ms, 2, soon()), 2U);
    const auto version = [&](const std::string& id) {
      return version_of(store, {.type = alice.type, .id = id}, 1);
    };
    EXPECT_EQ(version(ids[0]), 0U);
    EXPECT_EQ(version(ids[1]), 0U);
    EXPECT_EQ(version(ids[2]), 1U);
    EXPECT_EQ(version(elsewhere), 1U);
  });
}

// As in a cluster of many partitions, or with an affinity.
TEST_P(StoreContractTest, AnObjectIsInThePartitionThatItsOwnerSays) {
  const ObjectKey far = {.type = "chess.Player", .id = "far", .partition = 16'383};
  const ObjectKey near = {.type = "chess.Player", .id = "near", .partition = 16'383 % 1'024};
  run([&](Store& store) {
    ASSERT_EQ(version_of(store, far, 1), 0U);
    ASSERT_EQ(version_of(store, near, 1), 0U);
    EXPECT_TRUE(write(store, far, 1, 0, "far", noon));
    EXPECT_TRUE(write(store, near, 1, 0, "near", noon));
  });
  run([&](Store& store) {
    EXPECT_EQ(bytes_of(store, far, 2), "far");
    EXPECT_EQ(bytes_of(store, near, 2), "near");
    const DueObject due = {.type = std::string(far.type), .id = "far", .wake_at = noon};
    EXPECT_EQ(store.due(far.partition, noon, 10, soon()), std::vector{due});
    EXPECT_TRUE(store.write(far, 2, 1, {.bytes = "", .forget_at = noon}, soon()));
    EXPECT_EQ(store.forget(near.partition, noon, 10, soon()), 0U);
    EXPECT_EQ(store.forget(far.partition, noon, 10, soon()), 1U);
    EXPECT_THAT(store.seal(far, 1, soon()), fails_with(Code::aborted)) << "below the floor";
    EXPECT_EQ(version_of(store, {.type = far.type, .id = "new", .partition = 5}, 1), 0U);
    EXPECT_EQ(bytes_of(store, near, 2), "near");
  });
}

TEST_P(StoreContractTest, ASharedStoreBelongsToOneDirectory) {
  const DirectoryMark first = {.id = "first", .revision = 7};
  const DirectoryMark later = {.id = "first", .revision = 100};
  const DirectoryMark empty = {.id = "second", .revision = 1};
  const DirectoryMark accepted = {.id = "second", .revision = 2, .generation = 1};
  run([&](Store& store) {
    EXPECT_EQ(store.note_directory(first, {}, soon()), first);
    EXPECT_EQ(store.note_directory(later, {}, soon()), later);
    if (is_for_one_process()) return;
    EXPECT_EQ(store.note_directory(first, {.may_replace = true}, soon()), later)
        << "it was set back";
    EXPECT_EQ(store.note_directory(empty, {.may_replace = true}, soon()), later) << "another one";
    EXPECT_EQ(store.note_directory(accepted, {}, soon()), later) << "not yet";
    EXPECT_EQ(store.note_directory(accepted, {.may_replace = true}, soon()), accepted);
    EXPECT_EQ(store.note_directory(later, {.may_replace = true}, soon()), accepted)
        << "a former one";
  });
}

TEST_P(StoreContractTest, EpochsAreComparedAsNumbersOf64Bits) {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  run([](Store& store) {
    std::uint64_t before = 0;
    for (const std::uint64_t epoch :
         {std::uint64_t{9}, std::uint64_t{10}, std::uint64_t{100}, (std::uint64_t{1} << 53),
          (std::uint64_t{1} << 53) + 1, (std::uint64_t{1} << 63) - 1, (std::uint64_t{1} << 63),
          largest - 1, largest}) {
      EXPECT_TRUE(store.seal(alice, epoch, soon())) << epoch;
      EXPECT_THAT(store.seal(alice, before, soon()), fails_with(Code::aborted)) << epoch;
      EXPECT_THAT(write(store, alice, before, 0, ""), fails_with(Code::aborted)) << epoch;
      before = epoch;
    }
    EXPECT_TRUE(write(store, alice, largest, 0, "still written"));
  });
}

TEST_P(StoreContractTest, EpochsGrowAcrossAReopening) {
  std::uint64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    run([&](Store& store) {
      for (int draw = 0; draw < 3; ++draw) {
        const auto epoch = store.next_epoch(soon());
        ASSERT_TRUE(epoch) << epoch;
        EXPECT_GT(*epoch, last);
        last = *epoch;
      }
    });
  }
}

TEST_P(StoreContractTest, AnIdMayBeAnyBytes) {
  const std::vector<std::string> ids = {
      "",        " ",          ":",    "a:b",  "a",        "a\0"s,
      "a\0b"s,   "\0"s,        "Zoë",  "世界", "\xff\xfe", "\r\n",
      "'; DROP", "\"quoted\"", "{17}", "%s",   "*",        std::string(1000, 'x')};
  run([&](Store& store) {
    for (const std::string& id : ids) {
      for (const char* const type : {"chess.Player", "chess.Room"}) {
        const ObjectKey key = {.type = type, .id = id};
        ASSERT_EQ(version_of(store, key, 1), 0u) << id;
        ASSERT_TRUE(write(store, key, 1, 0, type + id, noon)) << id;
      }
    }
  });
  run([&](Store& store) {
    for (const std::string& id : ids) {
      for (const std::string type : {"chess.Player", "chess.Room"}) {
        EXPECT_EQ(bytes_of(store, {.type = type, .id = id}, 2), type + id);
        const auto due = store.due(partition_of(type, id), noon, 100, soon());
        ASSERT_TRUE(due) << due.error();
        EXPECT_THAT(*due, testing::Contains(DueObject{.type = type, .id = id, .wake_at = noon}));
      }
    }
  });
}

TEST_P(StoreContractTest, AStateMayBeAnyBytesUpToAMebibyteAndMore) {
  std::string large(1024 * 1024 + 17, '\0');
  for (std::size_t at = 0; at < large.size(); ++at) large[at] = static_cast<char>(at * 7 >> 3);
  const std::vector<std::string> states = {"\0"s, large, "", "\r\n$-1\r\n", large + large, "x"};
  std::uint64_t version = 0;
  for (const std::string& state : states) {
    run([&](Store& store) {
      EXPECT_EQ(version_of(store, alice, 1), version);
      ASSERT_TRUE(write(store, alice, 1, version, state));
      EXPECT_TRUE(bytes_of(store, alice, 1) == state) << "of " << state.size() << " bytes";
    });
    ++version;
    run([&](Store& store) {
      EXPECT_TRUE(bytes_of(store, alice, 1) == state) << "of " << state.size() << " bytes";
    });
  }
}

// Objects in one partition, woken an hour apart in the reverse order of their ids.
class DueTest : public StoreContractTest {
 protected:
  static constexpr std::size_t count = 5;

  void fill(Store& store) {
    for (std::size_t at = 0; at < count; ++at) {
      const ObjectKey key = {.type = alice.type, .id = ids_[at]};
      ASSERT_TRUE(store.seal(key, 1, soon()));
      ASSERT_TRUE(write(store, key, 1, 0, "state", time_of(at)));
    }
  }

  static WallTime time_of(std::size_t at) { return noon + 1h * (count - at); }
  DueObject object(std::size_t at) const {
    return {.type = std::string(alice.type), .id = ids_[at], .wake_at = time_of(at)};
  }
  std::vector<DueObject> due(Store& store, WallTime until, std::size_t count_max = 100) const {
    auto found = store.due(partition_of(alice.type, ids_[0]), until, count_max, soon());
    EXPECT_TRUE(found) << found.error();
    return found ? *found : std::vector<DueObject>();
  }

  const std::vector<std::string> ids_ = neighbours(count);
};

TEST_P(DueTest, TheEarliestComeFirstAndTheLimitIsInclusive) {
  run([&](Store& store) {
    fill(store);
    EXPECT_THAT(due(store, time_of(4) - 1ms), IsEmpty());
    EXPECT_THAT(due(store, time_of(4)), ElementsAre(object(4)));
    EXPECT_THAT(due(store, time_of(2)), ElementsAre(object(4), object(3), object(2)));
    EXPECT_THAT(due(store, WallTime::max()),
                ElementsAre(object(4), object(3), object(2), object(1), object(0)));
  });
}

TEST_P(DueTest, NoMoreThanTheRequestedCountAreReturned) {
  run([&](Store& store) {
    fill(store);
    EXPECT_THAT(due(store, WallTime::max(), 2), ElementsAre(object(4), object(3)));
    EXPECT_THAT(due(store, WallTime::max(), 0), IsEmpty());
  });
}

TEST_P(DueTest, OtherPartitionsAreNotReturned) {
  run([&](Store& store) {
    fill(store);
    const auto elsewhere = static_cast<Partition>(partition_of(alice.type, ids_[0]) ^ 1);
    const auto found = store.due(elsewhere, WallTime::max(), 100, soon());
    ASSERT_TRUE(found) << found.error();
    EXPECT_THAT(*found, IsEmpty());
  });
}

TEST_P(DueTest, EachWriteReplacesTheWakeTime) {
  run([&](Store& store) {
    fill(store);
    ASSERT_TRUE(write(store, {.type = alice.type, .id = ids_[4]}, 1, 1, "never"));
    ASSERT_TRUE(write(store, {.type = alice.type, .id = ids_[0]}, 1, 1, "at once", noon - 24h));
  });
  run([&](Store& store) {
    DueObject moved = object(0);
    moved.wake_at = noon - 24h;
    EXPECT_THAT(due(store, time_of(3)), ElementsAre(moved, object(3)));
  });
}

TEST_P(DueTest, ASealKeepsTheWakeTime) {
  run([&](Store& store) {
    fill(store);
    ASSERT_TRUE(store.seal({.type = alice.type, .id = ids_[4]}, 2, soon()));
    EXPECT_THAT(due(store, time_of(4)), ElementsAre(object(4)));
  });
}

TEST_P(DueTest, FarTimesAreExact) {
  run([&](Store& store) {
    const WallTime far(std::chrono::milliseconds((std::int64_t{1} << 53) - 1));
    const WallTime before(-std::chrono::milliseconds(86'400'001));
    const ObjectKey first = {.type = alice.type, .id = ids_[0]};
    const ObjectKey second = {.type = alice.type, .id = ids_[1]};
    ASSERT_TRUE(store.seal(first, 1, soon()));
    ASSERT_TRUE(write(store, first, 1, 0, "", far));
    ASSERT_TRUE(store.seal(second, 1, soon()));
    ASSERT_TRUE(write(store, second, 1, 0, "", before));
    EXPECT_THAT(due(store, far - 1ms),
                ElementsAre(DueObject{.type = "chess.Player", .id = ids_[1], .wake_at = before}));
    const auto both = due(store, far);
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[1].wake_at, far);
    // Beyond any calendar: it only must not come earlier.
    ASSERT_TRUE(write(store, second, 1, 1, "", WallTime::max()));
    EXPECT_EQ(due(store, far).size(), 1u);
    EXPECT_EQ(due(store, WallTime::max()).size(), 2u);
  });
}

TEST_P(StoreContractTest, HundredsOfTasksWriteConcurrently) {
  run([](Store& store) {
    static constexpr std::uint64_t write_count = 5;
    coroutine::TaskGroup tasks;
    for (int number = 0; number < 300; ++number) {
      ASSERT_TRUE(tasks.spawn("writer", [&store, number]() -> Result<void> {
        const std::string id = std::to_string(number);
        const ObjectKey key = {.type = "chess.Room", .id = id};
        if (auto sealed = store.seal(key, 1, soon()); !sealed) return sealed.error();
        for (std::uint64_t version = 0; version < write_count; ++version) {
          const std::string state = id + " at " + std::to_string(version);
          if (auto written = write(store, key, 1, version, state); !written) return written;
        }
        const auto sealed = store.seal(key, 1, soon());
        if (!sealed) return sealed.error();
        EXPECT_EQ(sealed->version, write_count);
        EXPECT_EQ(sealed->bytes, id + " at 4");
        return {};
      }));
    }
    const auto joined = tasks.join(soon());
    EXPECT_TRUE(joined) << joined;
  });
}

TEST_P(StoreContractTest, OneOfManyRivalsReplacesAVersion) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    std::vector<std::string> winners;
    coroutine::TaskGroup tasks;
    for (int number = 0; number < 100; ++number) {
      ASSERT_TRUE(tasks.spawn("rival", [&, number] {
        const std::string state = "of rival " + std::to_string(number);
        const auto written = write(store, alice, 1, 0, state);
        if (written) {
          winners.push_back(state);
        } else {
          EXPECT_THAT(written, fails_with(Code::aborted));
        }
      }));
    }
    EXPECT_TRUE(tasks.join(soon()));
    EXPECT_THAT(winners, ElementsAre(bytes_of(store, alice, 1)));
  });
}

TEST_P(StoreContractTest, ConcurrentEpochsDiffer) {
  run([](Store& store) {
    std::vector<std::uint64_t> epochs;
    coroutine::TaskGroup tasks;
    for (int number = 0; number < 100; ++number) {
      ASSERT_TRUE(tasks.spawn("node", [&] {
        const auto epoch = store.next_epoch(soon());
        EXPECT_TRUE(epoch) << epoch;
        epochs.push_back(epoch.value_or(0));
      }));
    }
    EXPECT_TRUE(tasks.join(soon()));
    std::ranges::sort(epochs);
    EXPECT_THAT(std::ranges::adjacent_find(epochs), epochs.end());
  });
}

TEST_P(StoreContractTest, ShardsShareTheObjects) {
  if (!is_for_threads()) GTEST_SKIP() << "it has one thread";
  const std::string types[] = {"chess.Player", "chess.Room"};
  // All threads start and end together, so that no loop ends while another begins: ThreadSanitizer
  // reports the reuse of a descriptor by the kernel as a race.
  std::barrier together(std::ssize(types));
  std::vector<std::thread> shards;
  for (const std::string& type : types) {
    shards.emplace_back([&] {
      run([&](Store& store) {
        together.arrive_and_wait();
        for (std::uint64_t version = 0; version < 20; ++version) {
          EXPECT_EQ(version_of(store, {.type = type, .id = "own"}, 1), version);
          EXPECT_TRUE(write(store, {.type = type, .id = "own"}, 1, version, "state"));
          static_cast<void>(store.seal(alice, version + 1, soon()));
        }
        together.arrive_and_wait();
        EXPECT_THAT(store.seal(alice, 19, soon()), fails_with(Code::aborted));
      });
    });
  }
  for (std::thread& shard : shards) shard.join();
  run([&](Store& store) {
    for (const std::string& type : types) {
      EXPECT_EQ(version_of(store, {.type = type, .id = "own"}, 2), 20u);
    }
  });
}

TEST_P(StoreContractTest, ACallAfterItsDeadlineChangesNothing) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    const auto late = store.write(alice, 1, 0, {.bytes = "late"}, Deadline::passed());
    ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
    EXPECT_FALSE(late.error().maybe_executed());
    EXPECT_THAT(store.seal(alice, 2, Deadline::passed()), fails_with(Code::deadline_exceeded));
    EXPECT_THAT(store.next_epoch(Deadline::passed()), fails_with(Code::deadline_exceeded));
    EXPECT_THAT(store.due(0, noon, 1, Deadline::passed()), fails_with(Code::deadline_exceeded));
    EXPECT_EQ(version_of(store, alice, 1), 0u);
  });
}

TEST_P(StoreContractTest, ACancelledTaskChangesNothing) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    auto cancelled = coroutine::spawn("cancelled", [&] {
      EXPECT_FALSE(coroutine::yield());
      EXPECT_THAT(write(store, alice, 1, 0, "cancelled"), fails_with(Code::cancelled));
      EXPECT_THAT(store.seal(alice, 2, soon()), fails_with(Code::cancelled));
      EXPECT_THAT(store.next_epoch(soon()), fails_with(Code::cancelled));
      EXPECT_THAT(store.due(0, noon, 1, soon()), fails_with(Code::cancelled));
    });
    cancelled.cancel();
    EXPECT_TRUE(cancelled.join(soon()));
    EXPECT_EQ(version_of(store, alice, 1), 0u);
  });
}

TEST_P(StoreContractTest, ACancelledWriteIsMarkedMaybeExecutedIfItTookEffect) {
  run([](Store& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    std::uint64_t version = 0;
    for (int round = 0; round < 50; ++round) {
      const std::string state = "of round " + std::to_string(round);
      auto writer =
          coroutine::spawn("writer", [&] { return write(store, alice, 1, version, state); });
      for (int turn = 0; turn < round % 5; ++turn) ASSERT_TRUE(coroutine::yield());
      writer.cancel();
      const auto written = writer.join(soon());
      const auto now = store.seal(alice, 1, soon());
      ASSERT_TRUE(now) << now;
      EXPECT_THAT(written, testing::AnyOf(testing::IsTrue(), fails_with(Code::cancelled)));
      const bool is_done = now->version != version;
      EXPECT_TRUE(is_done ? written || written.error().maybe_executed() : !written);
      EXPECT_EQ(now->version, is_done ? version + 1 : version);
      if (is_done) {
        EXPECT_EQ(now->bytes, state);
      }
      version = now->version;
    }
  });
}

// Random calls of a few objects, half of which an owner could make; a MemoryStore gives the
// expected results.
class RandomCalls {
 public:
  // Suspends. After a reopening there are later owners, since a store that belongs to one process
  // may forget seals and floors when it is closed.
  void make(Store& store, int count) {
    if (std::exchange(was_opened_, true)) {
      for (Object& object : objects_) {
        object.epoch = last_epoch_;
        EXPECT_EQ(store.seal(object.key(), object.epoch, soon()),
                  model_.seal(object.key(), object.epoch, soon()));
      }
    }
    for (int call = 0; call < count && !testing::Test::HasFailure(); ++call) {
      Object& object = objects_[random_.below(objects_.size())];
      switch (random_.below(5)) {
        case 0:
          seal(store, object);
          break;
        case 1:
          ask_due(store);
          break;
        case 2:
          forget(store);
          break;
        default:
          write(store, object);
          break;
      }
    }
  }

 private:
  struct Object {
    ObjectKey key() const { return {.type = alice.type, .id = id}; }

    std::string id;
    std::uint64_t epoch = 1;
    std::uint64_t version = 0;
  };

  void seal(Store& store, Object& object) {
    const std::uint64_t epoch = object.epoch + random_.below(3) - (object.epoch > 1 ? 1 : 0);
    const auto expected = model_.seal(object.key(), epoch, soon());
    EXPECT_EQ(store.seal(object.key(), epoch, soon()), expected);
    if (!expected) return;
    object.epoch = epoch;
    object.version = expected->version;
    last_epoch_ = std::max(last_epoch_, epoch);
  }

  void write(Store& store, Object& object) {
    const std::string bytes(random_.below(100), 'x');
    std::optional<WallTime> wake_at;
    std::optional<WallTime> forget_at;
    if (random_.one_in(4)) {
      forget_at = noon + 1ms * random_.below(10);
    } else if (!random_.one_in(3)) {
      wake_at = noon + 1ms * random_.below(10);
    }
    const ObjectWrite write = {.bytes = bytes, .wake_at = wake_at, .forget_at = forget_at};
    const std::uint64_t epoch = object.epoch + (random_.one_in(4) ? 1 : 0);
    const std::uint64_t version = object.version + (random_.one_in(4) ? 1 : 0);
    const auto expected = model_.write(object.key(), epoch, version, write, soon());
    EXPECT_EQ(store.write(object.key(), epoch, version, write, soon()), expected);
    if (expected) ++object.version;
  }

  void ask_due(Store& store) {
    const Partition partition = partition_of(alice.type, objects_[0].id);
    const WallTime until = noon + 1ms * random_.below(10);
    const std::size_t count_max = random_.below(4);
    EXPECT_EQ(store.due(partition, until, count_max, soon()),
              model_.due(partition, until, count_max, soon()));
  }

  void forget(Store& store) {
    const Partition partition = partition_of(alice.type, objects_[0].id);
    const WallTime now = noon + 1ms * random_.below(10);
    // The count may include objects that were written again.
    EXPECT_TRUE(store.forget(partition, now, 100, soon()));
    EXPECT_TRUE(model_.forget(partition, now, 100, soon()));
  }

  test::Random random_;
  MemoryStore model_;
  bool was_opened_ = false;
  std::uint64_t last_epoch_ = 1;
  std::vector<Object> objects_ = [] {
    std::vector<Object> objects;
    for (std::string& id : neighbours(3)) objects.push_back({.id = std::move(id)});
    return objects;
  }();
};

TEST_P(StoreContractTest, RandomCallsMatchTheModel) {
  RandomCalls calls;
  for (int reopening = 0; reopening < 3; ++reopening) {
    run([&](Store& store) { calls.make(store, 200); });
  }
}

std::string name_of(const testing::TestParamInfo<const char*>& backend) { return backend.param; }

const auto backends =
    testing::Values("memory", "sqlite", "redis", "three_redis", "simulated", "recorded");
INSTANTIATE_TEST_SUITE_P(Stores, StoreContractTest, backends, name_of);
INSTANTIATE_TEST_SUITE_P(Stores, DueTest, backends, name_of);

}  // namespace
}  // namespace corolane::framework
