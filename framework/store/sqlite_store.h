// SPDX-License-Identifier: MIT
// Objects in one local SQLite file: the default store of a node.
//
//   auto store = SqliteStore::open("/var/lib/chess/objects.db");
//   if (!store) return store.error();
//
// One thread writes for all shards and commits together the calls that arrived meanwhile: a commit
// waits for the disk, and a hundred writes in one cost little more than a single one. Commits
// survive a loss of power (write-ahead log, synchronous=FULL).
//
// The file belongs to one process at a time. The store may be called by tasks of any scheduler.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "framework/store/store.h"

namespace corolane::framework {

namespace detail {
class SqliteWriter;
}

class SqliteStore : public Store {
 public:
  struct Options {
    // The limits of calls that wait for the disk, and of the bytes of their keys and states;
    // further calls are refused. A state larger than queue_bytes_max is never stored.
    std::size_t queue_count_max = 16'384;
    std::size_t queue_bytes_max = 64 * 1024 * 1024;
    // The limits of one commit: enough to share its cost, and few enough to keep the wait for other
    // calls short. The call that reaches batch_bytes_max ends the batch.
    std::size_t batch_count_max = 256;
    std::size_t batch_bytes_max = 4 * 1024 * 1024;
    // How long a batch waits for as many calls as the last one had; less than a commit takes.
    std::chrono::microseconds gather_time_max{200};
  };

  // Creates a missing file. Blocks. Fails with not_found when its folder does not exist, with
  // failed_precondition when another process has it open or it belongs to another program, with
  // permission_denied, resource_exhausted, data_loss or unavailable; the message says what to do.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path);
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path, const Options& options);
  // No call may be in progress. Blocks until the running commit has ended.
  ~SqliteStore() override;

  // When the disk fails during a commit its outcome is unknown, and all calls of that batch fail
  // with maybe_executed. When the disk is full calls fail until there is room again. A call that
  // gives up before its batch begins is never executed. A seal writes nothing, so objects can be
  // read while the disk is full, and objects that were only read leave no row.
  Result<std::uint64_t> next_epoch(Deadline deadline) override;
  Result<std::uint64_t> owed_epoch(Deadline deadline) override;
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override;
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max,
                                     Deadline deadline) override;
  Result<std::size_t> forget(Partition partition, WallTime now, std::size_t count_max,
                             Deadline deadline) override;
  bool is_shared() const override { return false; }
  std::string name() const override { return name_; }

 private:
  SqliteStore(std::string name, std::unique_ptr<detail::SqliteWriter> writer);

  const std::string name_;
  const std::unique_ptr<detail::SqliteWriter> writer_;
};

}  // namespace corolane::framework
