// SPDX-License-Identifier: MIT
// The parts of SqliteStore that the contract does not cover: its file, its disk, its batches. All
// tests run on real loops, since the disk belongs to another thread.
#include "framework/store/sqlite_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/store/faulty_disk.h"
#include "tools/processes/child_process.h"

namespace corolane::framework {
namespace {

using test::fails_with;
using test::FaultyDisk;
using test::run_on_real_loop;
using test::soon;
using testing::AllOf;
using testing::HasSubstr;

constexpr ObjectKey alice = {.type = "chess.Player", .id = "alice"};
constexpr ObjectKey bob = {.type = "chess.Player", .id = "bob"};

Result<void> write(Store& store, const ObjectKey& key, std::uint64_t version,
                   std::string_view bytes, Deadline deadline = soon()) {
  return store.write(key, /*epoch=*/1, version, {.bytes = bytes}, deadline);
}

StoredObject load(Store& store, const ObjectKey& key, std::uint64_t epoch) {
  auto sealed = store.seal(key, epoch, soon());
  EXPECT_TRUE(sealed) << sealed;
  return sealed ? *std::move(sealed) : StoredObject{};
}

class SqliteStoreTest : public testing::Test {
 protected:
  // Runs `body` on a shard of its own, with a store of that file.
  void run(const std::function<void(SqliteStore&)>& body,
           const SqliteStore::Options& options = {}) {
    run_at(path_, body, options);
  }
  static void run_at(const std::string& path, const std::function<void(SqliteStore&)>& body,
                     const SqliteStore::Options& options = {}) {
    run_on_real_loop([&](test::RealLoop&) {
      auto store = SqliteStore::open(path, options);
      ASSERT_TRUE(store) << store.error();
      body(**store);
    });
  }

  // Runs statements on the file with plain SQLite.
  void execute(const std::string& statements) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  // The number that a statement returns.
  int number_of(const char* statement) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    int number = -1;
    const auto read = [](void* place, int, char** values, char**) {
      *static_cast<int*>(place) = std::atoi(values[0]);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, statement, read, &number, nullptr), SQLITE_OK);
    sqlite3_close(database);
    return number;
  }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "objects.db";
};

// --- Opening ----------------------------------------------------------------------------------

TEST_F(SqliteStoreTest, AMissingFolderIsNamedWithAHint) {
  const auto opened = SqliteStore::open(folder_.path() / "missing" / "objects.db");
  ASSERT_THAT(opened, fails_with(Code::not_found));
  EXPECT_THAT(opened.error().message(),
              AllOf(HasSubstr("objects.db: there is no folder"), HasSubstr("mkdir -p")));
}

TEST_F(SqliteStoreTest, APathThatIsNotADatabaseIsRefused) {
  EXPECT_THAT(SqliteStore::open(folder_.path()), fails_with(Code::failed_precondition));
  EXPECT_THAT(SqliteStore::open(""), fails_with(Code::failed_precondition));
  EXPECT_THAT(SqliteStore::open(":memory:"), fails_with(Code::failed_precondition));
  std::ofstream(path_) << std::string(10'000, 'x');
  const auto opened = SqliteStore::open(path_);
  ASSERT_THAT(opened, fails_with(Code::failed_precondition));
  EXPECT_THAT(opened.error().message(), HasSubstr("not an SQLite file"));
}

// Drops the file permissions of the calling thread, which may be root.
class AsNobody {
 public:
  AsNobody() {
    if (::geteuid() == 0) ::setfsuid(65'534);
  }
  ~AsNobody() { ::setfsuid(::geteuid()); }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
};

TEST_F(SqliteStoreTest, AnUnwritableFolderIsRefused) {
  using std::filesystem::perms;
  run([](SqliteStore&) {});
  const perms readable = perms::owner_read | perms::group_read | perms::others_read;
  std::filesystem::permissions(path_, readable);
  std::filesystem::permissions(
      folder_.path(), readable | perms::owner_exec | perms::group_exec | perms::others_exec);
  const AsNobody nobody;
  EXPECT_THAT(SqliteStore::open(path_), fails_with(Code::permission_denied)) << "an old file";
  const auto opened = SqliteStore::open(folder_.path() / "new.db");
  ASSERT_THAT(opened, fails_with(Code::permission_denied));
  EXPECT_THAT(opened.error().message(),
              HasSubstr("may not make or open files in " + folder_.path().string()));
}

TEST_F(SqliteStoreTest, AFileOfAnotherProgramIsRefusedAndLeftUnchanged) {
  execute("CREATE TABLE theirs (name TEXT); INSERT INTO theirs VALUES ('precious')");
  const auto opened = SqliteStore::open(path_);
  ASSERT_THAT(opened, fails_with(Code::failed_precondition));
  EXPECT_THAT(opened.error().message(), HasSubstr("another program (application_id 0)"));
  execute("INSERT INTO theirs VALUES ('still there')");

  std::filesystem::remove(path_);
  execute("PRAGMA application_id = 77");
  EXPECT_THAT(SqliteStore::open(path_), fails_with(Code::failed_precondition));
}

TEST_F(SqliteStoreTest, AFileOfALaterFormatIsRefused) {
  run([](SqliteStore&) {});
  execute("PRAGMA user_version = 2");
  const auto opened = SqliteStore::open(path_);
  ASSERT_THAT(opened, fails_with(Code::failed_precondition));
  EXPECT_THAT(opened.error().message(), HasSubstr("format is 2 and this program knows 1"));
}

TEST_F(SqliteStoreTest, AFileBelongsToOneStore) {
  run([&](SqliteStore&) {
    const auto second = SqliteStore::open(path_);
    ASSERT_THAT(second, fails_with(Code::failed_precondition));
    EXPECT_THAT(second.error().message(), HasSubstr("another process has the file open"));
  });
  EXPECT_TRUE(SqliteStore::open(path_)) << "once the first one is gone";
}

TEST_F(SqliteStoreTest, AFileBelongsToOneProcess) {
  run([&](SqliteStore&) {
    test::ChildProcess other(COROLANE_FIXTURE_STORE, {path_});
    EXPECT_EQ(other.wait().exit_status, EXIT_FAILURE);
    EXPECT_THAT(other.rest_of_output(),
                AllOf(HasSubstr("failed_precondition: sqlite " + path_),
                      HasSubstr("another process has the file open"), HasSubstr("fuser")));
  });
  test::ChildProcess other(COROLANE_FIXTURE_STORE, {path_});
  EXPECT_EQ(other.wait().exit_status, EXIT_SUCCESS) << other.rest_of_output();
}

// --- Commits ----------------------------------------------------------------------------------

TEST_F(SqliteStoreTest, ConcurrentCallsShareACommit) {
  FaultyDisk disk;
  run([&](SqliteStore& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    const std::size_t before = disk.sync_count("-wal");
    for (std::uint64_t version = 0; version < 10; ++version) {
      ASSERT_TRUE(write(store, alice, version, "alone"));
    }
    EXPECT_EQ(disk.sync_count("-wal"), before + 10) << "each of those that come alone has its own";
    const auto room = [](const std::string& id) {
      return ObjectKey{.type = "chess.Room", .id = id};
    };
    for (int number = 0; number < 100; ++number) {
      ASSERT_TRUE(store.seal(room(std::to_string(number)), 1, soon()));
    }
    EXPECT_EQ(disk.sync_count("-wal"), before + 10) << "a seal needs no disk";

    // One more call holds the disk until a hundred others are queued.
    disk.set_fault(FaultyDisk::Fault::held);
    coroutine::TaskGroup tasks;
    ASSERT_TRUE(tasks.spawn("first", [&] { EXPECT_TRUE(write(store, alice, 10, "first")); }));
    ASSERT_TRUE(coroutine::yield());
    disk.wait_until_held();
    for (int number = 0; number < 100; ++number) {
      ASSERT_TRUE(tasks.spawn("other", [&store, room, number] {
        EXPECT_TRUE(write(store, room(std::to_string(number)), 0, "together"));
      }));
    }
    ASSERT_TRUE(coroutine::yield());
    disk.set_fault(FaultyDisk::Fault::none);
    EXPECT_TRUE(tasks.join(soon()));
    EXPECT_EQ(disk.sync_count("-wal"), before + 12);
  });
}

TEST_F(SqliteStoreTest, TasksOfOneBatchAreBatchedAgain) {
  FaultyDisk disk;
  const auto write_rooms = [&](SqliteStore& store) {
    disk.set_fault(FaultyDisk::Fault::held);
    coroutine::TaskGroup tasks;
    ASSERT_TRUE(tasks.spawn("first", [&] { EXPECT_TRUE(store.next_epoch(soon())); }));
    ASSERT_TRUE(coroutine::yield());
    disk.wait_until_held();
    for (int number = 0; number < 10; ++number) {
      ASSERT_TRUE(tasks.spawn("writer", [&] {
        for (int draw = 0; draw < 3; ++draw) EXPECT_TRUE(store.next_epoch(soon()));
      }));
    }
    ASSERT_TRUE(coroutine::yield());
    const std::size_t before = disk.sync_count("-wal");
    disk.set_fault(FaultyDisk::Fault::none);
    EXPECT_TRUE(tasks.join(soon()));
    EXPECT_EQ(disk.sync_count("-wal"), before + 1 + 3);
  };
  // Gathering may take a minute, so that nothing depends on how busy the machine is.
  run(write_rooms, {.gather_time_max = std::chrono::minutes(1)});
}

TEST_F(SqliteStoreTest, ARefusalDoesNotFailTheOthers) {
  FaultyDisk disk;
  run([&](SqliteStore& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(store.seal(bob, 9, soon()));
    disk.set_fault(FaultyDisk::Fault::held);
    coroutine::TaskGroup tasks;
    ASSERT_TRUE(tasks.spawn("first", [&] { EXPECT_TRUE(store.next_epoch(soon())); }));
    ASSERT_TRUE(coroutine::yield());
    disk.wait_until_held();
    ASSERT_TRUE(tasks.spawn("good", [&] { EXPECT_TRUE(write(store, alice, 0, "good")); }));
    ASSERT_TRUE(tasks.spawn("past owner", [&] {
      EXPECT_THAT(write(store, bob, 0, "too late"), fails_with(Code::aborted));
    }));
    ASSERT_TRUE(tasks.spawn("good", [&] { EXPECT_TRUE(write(store, alice, 1, "good, too")); }));
    ASSERT_TRUE(coroutine::yield());
    disk.set_fault(FaultyDisk::Fault::none);
    EXPECT_TRUE(tasks.join(soon()));
    EXPECT_EQ(load(store, alice, 1), (StoredObject{.version = 2, .bytes = "good, too"}));
  });
}

// Calls that the disk delays, and their outcomes.
TEST_F(SqliteStoreTest, AnAbandonedCallIsMaybeExecutedOnlyIfItHadStarted) {
  FaultyDisk disk;
  run([&](SqliteStore& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    disk.set_fault(FaultyDisk::Fault::held);
    auto running = coroutine::spawn("running", [&] { return write(store, alice, 0, "first"); });
    ASSERT_TRUE(coroutine::yield());
    disk.wait_until_held();
    auto waiting = coroutine::spawn("waiting", [&] { return write(store, alice, 1, "second"); });
    auto reading = coroutine::spawn("reading", [&] { return store.due(0, {}, 1, soon()); });
    ASSERT_TRUE(coroutine::yield());
    running.cancel();
    waiting.cancel();
    reading.cancel();
    const auto unknown = running.join(soon());
    ASSERT_THAT(unknown, fails_with(Code::cancelled));
    EXPECT_TRUE(unknown.error().maybe_executed());
    const auto withdrawn = waiting.join(soon());
    ASSERT_THAT(withdrawn, fails_with(Code::cancelled));
    EXPECT_FALSE(withdrawn.error().maybe_executed());
    EXPECT_THAT(reading.join(soon()), fails_with(Code::cancelled));

    disk.set_fault(FaultyDisk::Fault::none);
    EXPECT_EQ(load(store, alice, 1), (StoredObject{.version = 1, .bytes = "first"}));
  });
}

TEST_F(SqliteStoreTest, ADeadlineEndsTheWaitForTheDisk) {
  FaultyDisk disk;
  run([&](SqliteStore& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    disk.set_fault(FaultyDisk::Fault::held);
    for (bool was_begun = false; !was_begun;) {
      const auto deadline = Deadline::after(std::chrono::milliseconds(20));
      const auto late = write(store, alice, 0, "first", deadline);
      ASSERT_THAT(late, fails_with(Code::deadline_exceeded));
      EXPECT_THAT(late.error().message(), HasSubstr("sqlite " + path_));
      // Otherwise the thread has not got to the call, and it is repeated.
      was_begun = late.error().maybe_executed();
    }
    disk.set_fault(FaultyDisk::Fault::none);
    EXPECT_EQ(load(store, alice, 1), (StoredObject{.version = 1, .bytes = "first"}));
  });
}

TEST_F(SqliteStoreTest, AnAbandonedCallOutlivesItsScheduler) {
  FaultyDisk disk;
  std::unique_ptr<SqliteStore> store;
  run_on_real_loop([&](test::RealLoop&) {
    auto opened = SqliteStore::open(path_);
    ASSERT_TRUE(opened) << opened.error();
    store = std::move(*opened);
    ASSERT_TRUE(store->seal(alice, 1, soon()));
    disk.set_fault(FaultyDisk::Fault::held);
    auto writer = coroutine::spawn("writer", [&] { return write(*store, alice, 0, "left"); });
    ASSERT_TRUE(coroutine::yield());
    disk.wait_until_held();
    writer.cancel();
    EXPECT_THAT(writer.join(soon()), fails_with(Code::cancelled));
  });
  disk.set_fault(FaultyDisk::Fault::none);
  run_on_real_loop([&](test::RealLoop&) {
    EXPECT_EQ(load(*store, alice, 1), (StoredObject{.version = 1, .bytes = "left"}));
  });
  store.reset();
}

TEST_F(SqliteStoreTest, MoreThanTheQueueHoldsIsRefused) {
  FaultyDisk disk;
  const auto fill = [&](SqliteStore& store) {
    EXPECT_THAT(write(store, alice, 0, std::string(1001, 'x')),
                fails_with(Code::resource_exhausted))
        << "more than it ever holds";
    disk.set_fault(FaultyDisk::Fault::held);
    coroutine::TaskGroup tasks;
    ASSERT_TRUE(tasks.spawn("running", [&] { EXPECT_TRUE(store.next_epoch(soon())); }));
    ASSERT_TRUE(coroutine::yield());
    disk.wait_until_held();
    for (int number = 0; number < 3; ++number) {
      ASSERT_TRUE(tasks.spawn("waiting", [&] {
        EXPECT_THAT(write(store, alice, 7, std::string(100, 'x')), fails_with(Code::aborted));
      }));
    }
    ASSERT_TRUE(coroutine::yield());
    EXPECT_THAT(write(store, alice, 0, std::string(900, 'x')),
                fails_with(Code::resource_exhausted));
    ASSERT_TRUE(tasks.spawn("last", [&] { EXPECT_TRUE(store.next_epoch(soon())); }));
    ASSERT_TRUE(coroutine::yield());
    const auto refused = store.next_epoch(soon());
    ASSERT_THAT(refused, fails_with(Code::resource_exhausted));
    EXPECT_FALSE(refused.error().maybe_executed());
    EXPECT_GT(refused.error().retry_after().count(), 0) << "or the store would pass for a full one";
    EXPECT_THAT(refused.error().message(), HasSubstr("4 calls with 351 bytes"));
    disk.set_fault(FaultyDisk::Fault::none);
    EXPECT_TRUE(tasks.join(soon()));
    EXPECT_TRUE(store.next_epoch(soon())) << "there is room again";
  };
  run(fill, {.queue_count_max = 4, .queue_bytes_max = 1000});
}

TEST_F(SqliteStoreTest, TheSizeOfABatchIsBounded) {
  FaultyDisk disk;
  const auto write_rooms = [&](SqliteStore& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    disk.set_fault(FaultyDisk::Fault::held);
    coroutine::TaskGroup tasks;
    ASSERT_TRUE(tasks.spawn("first", [&] { EXPECT_TRUE(write(store, alice, 0, "first")); }));
    ASSERT_TRUE(coroutine::yield());
    disk.wait_until_held();
    const std::size_t before = disk.sync_count("-wal");
    for (int number = 0; number < 10; ++number) {
      ASSERT_TRUE(tasks.spawn("epoch", [&] { EXPECT_TRUE(store.next_epoch(soon())); }));
    }
    ASSERT_TRUE(coroutine::yield());
    disk.set_fault(FaultyDisk::Fault::none);
    EXPECT_TRUE(tasks.join(soon()));
    EXPECT_EQ(disk.sync_count("-wal"), before + 1 + 3) << "of four, four and two";
  };
  run(write_rooms, {.batch_count_max = 4});
}

// --- A disk that fails ------------------------------------------------------------------------

class SqliteDiskTest : public SqliteStoreTest {
 protected:
  // Writes with that fault, and again after it is cleared.
  void write_with(FaultyDisk::Fault fault, Code expected) {
    run([&](SqliteStore& store) {
      for (const ObjectKey& key : {alice, bob}) {
        ASSERT_TRUE(store.seal(key, 1, soon()));
        ASSERT_TRUE(write(store, key, 0, "before"));
      }
      disk_.set_fault(fault);
      coroutine::TaskGroup tasks;
      for (const ObjectKey& key : {alice, bob}) {
        ASSERT_TRUE(tasks.spawn("writer", [&store, key, expected] {
          const auto failed = write(store, key, 1, "together");
          ASSERT_THAT(failed, fails_with(expected));
          EXPECT_THAT(failed.error().message(), HasSubstr("disk"));
        }));
      }
      EXPECT_TRUE(tasks.join(soon()));
      EXPECT_THAT(write(store, alice, 1, "while it fails"), fails_with(expected));
      disk_.set_fault(FaultyDisk::Fault::none);
      EXPECT_EQ(load(store, alice, 1), (StoredObject{.version = 1, .bytes = "before"}));
      EXPECT_TRUE(write(store, alice, 1, "after"));
    });
    run([](SqliteStore& store) {
      EXPECT_EQ(load(store, alice, 2), (StoredObject{.version = 2, .bytes = "after"}));
    });
  }

  FaultyDisk disk_;
};

TEST_F(SqliteDiskTest, AFullDiskRefusesWritesUntilThereIsRoom) {
  write_with(FaultyDisk::Fault::full, Code::resource_exhausted);
}

TEST_F(SqliteDiskTest, ABrokenDiskFailsAllCallsUntilItIsRepaired) {
  write_with(FaultyDisk::Fault::broken, Code::unavailable);
}

TEST_F(SqliteDiskTest, ADiskThatDoesNotSyncFailsAllCallsUntilItIsRepaired) {
  write_with(FaultyDisk::Fault::sync_broken, Code::unavailable);
}

TEST_F(SqliteDiskTest, ReadsSucceedWhileTheDiskIsFull) {
  run([&](SqliteStore& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(write(store, alice, 0, "before"));
    disk_.set_fault(FaultyDisk::Fault::full);
    EXPECT_THAT(write(store, alice, 1, "refused"), fails_with(Code::resource_exhausted));
    const StoredObject before{.version = 1, .bytes = "before"};
    EXPECT_EQ(load(store, alice, 1), before);
    EXPECT_EQ(load(store, alice, 2), before) << "by another owner";
    EXPECT_EQ(load(store, bob, 2), StoredObject()) << "of a name that is new";
    EXPECT_THAT(write(store, alice, 1, "late"), fails_with(Code::aborted));
    EXPECT_TRUE(store.due(0, {}, 10, soon()));
    disk_.set_fault(FaultyDisk::Fault::none);
  });
}

TEST_F(SqliteDiskTest, AProcessReadsOnAFullDiskAndWritesWhenThereIsRoom) {
  std::uint64_t epoch_before = 0;
  run([&](SqliteStore& store) {
    epoch_before = *store.next_epoch(soon());
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(write(store, alice, 0, "before"));
  });
  disk_.set_fault(FaultyDisk::Fault::full);
  std::uint64_t epoch = 0;
  run([&](SqliteStore& store) {
    EXPECT_THAT(store.next_epoch(soon()), fails_with(Code::resource_exhausted));
    const auto owed = store.owed_epoch(soon());
    ASSERT_TRUE(owed) << owed;
    epoch = *owed;
    EXPECT_GT(epoch, epoch_before);
    EXPECT_EQ(load(store, alice, epoch), (StoredObject{.version = 1, .bytes = "before"}));
    EXPECT_THAT(store.write(alice, epoch, 1, {.bytes = "refused"}, soon()),
                fails_with(Code::resource_exhausted));
    disk_.set_fault(FaultyDisk::Fault::none);
    EXPECT_TRUE(store.write(alice, epoch, 1, {.bytes = "after"}, soon()));
  });
  run([&](SqliteStore& store) {
    EXPECT_GT(*store.next_epoch(soon()), epoch) << "stored before what was written under it";
    EXPECT_THAT(store.seal(alice, epoch - 1, soon()), fails_with(Code::aborted));
  });
}

TEST_F(SqliteStoreTest, NamesThatWereOnlyReadLeaveNoRows) {
  run([](SqliteStore& store) {
    for (int number = 0; number < 100; ++number) {
      const std::string id = std::to_string(number);
      EXPECT_EQ(load(store, {.type = "chess.Room", .id = id}, 1), StoredObject());
    }
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(write(store, alice, 0, "state"));
  });
  EXPECT_EQ(number_of("SELECT count(*) FROM object"), 1);
}

TEST_F(SqliteDiskTest, AFailedCommitIsMarkedMaybeExecuted) {
  run([&](SqliteStore& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    disk_.set_fault(FaultyDisk::Fault::sync_broken);
    const auto unknown = write(store, alice, 0, "unknown");
    ASSERT_THAT(unknown, fails_with(Code::unavailable));
    EXPECT_TRUE(unknown.error().maybe_executed());
    disk_.set_fault(FaultyDisk::Fault::none);
  });
}

// The log may hold a failed commit, and a reader after a crash finds it there.
TEST_F(SqliteDiskTest, TheAnswerOfASealAfterAFailedCommitSurvivesACrash) {
  const test::TemporaryFolder after_crash;
  run([&](SqliteStore& store) {
    ASSERT_TRUE(store.seal(alice, 1, soon()));
    ASSERT_TRUE(write(store, alice, 0, "before"));
    disk_.set_fault(FaultyDisk::Fault::sync_broken);
    EXPECT_THAT(write(store, alice, 1, "unknown"), fails_with(Code::unavailable));
    disk_.set_fault(FaultyDisk::Fault::none);
    EXPECT_EQ(load(store, alice, 1), (StoredObject{.version = 1, .bytes = "before"}));
    // A process that dies leaves everything that it has written, synced or not.
    for (const char* const name : {"objects.db", "objects.db-wal"}) {
      std::filesystem::copy_file(folder_.path() / name, after_crash.path() / name);
    }
  });
  run_at(after_crash.path() / "objects.db", [](SqliteStore& store) {
    EXPECT_EQ(load(store, alice, 1), (StoredObject{.version = 1, .bytes = "before"}));
  });
}

TEST_F(SqliteDiskTest, APowerLossLosesNoAcknowledgedWrite) {
  run([&](SqliteStore& store) {
    for (const ObjectKey& key : {alice, bob}) ASSERT_TRUE(store.seal(key, 1, soon()));
    for (std::uint64_t version = 0; version < 30; ++version) {
      // Large states now and then make SQLite move its log into the file.
      const std::string state(version % 7 == 0 ? 1'000'000 : 100, static_cast<char>('a' + version));
      for (const ObjectKey& key : {alice, bob}) ASSERT_TRUE(write(store, key, version, state));
      const test::TemporaryFolder found;
      disk_.lose_power(folder_.path(), found.path());
      run_at(found.path() / "objects.db", [&](SqliteStore& recovered) {
        for (const ObjectKey& key : {alice, bob}) {
          EXPECT_TRUE(load(recovered, key, 2) ==
                      (StoredObject{.version = version + 1, .bytes = state}))
              << version;
        }
      });
    }
  });
}

}  // namespace
}  // namespace corolane::framework
