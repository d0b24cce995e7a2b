// Objects in one file of this machine, by SQLite: what a node uses unless it is told otherwise.
//
//   auto store = SqliteStore::open("/var/lib/chess/objects.db");
//   if (!store) return store.error();
//
// One thread writes, for all shards, and commits together what has come meanwhile: a commit waits
// for the disk, and a hundred writes in one cost little more than one alone. What is done survives
// a loss of power (write-ahead log, synchronous=FULL).
//
// The file belongs to one process at a time. The store may be called from any scheduler's task.
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
    // Calls that wait for the disk, and their keys and states; one more is refused. A disk that is
    // so far behind is no help to who waits, and a state larger than the latter is never stored.
    std::size_t queue_count_max = 16'384;
    std::size_t queue_bytes_max = 64 * 1024 * 1024;
    // Of one commit: enough to share its cost, little enough that nobody waits for others' work. A
    // batch ends with the call that reaches the bytes.
    std::size_t batch_count_max = 256;
    std::size_t batch_bytes_max = 4 * 1024 * 1024;
    // A batch waits at most so long for as many calls as the last one had; less than a commit.
    std::chrono::microseconds gather_time_max{200};
  };

  // Makes the file where there is none. Blocks. Fails with not_found when its folder does not
  // exist, with failed_precondition when another process has it open or it is another program's,
  // with permission_denied, resource_exhausted, data_loss or unavailable; the message says what to
  // do.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path);
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path, const Options& options);
  // No task is inside of a call. Blocks until what was begun is done.
  ~SqliteStore() override;

  // When the disk fails in the middle of a commit nobody knows what it has: then all calls of that
  // batch fail with maybe_executed. When it is full they fail, and later ones succeed once there is
  // room again. A call that gives up before its turn has come is never done. A seal writes nothing,
  // so objects are read while the disk is full, and no name is kept that was only read.
  Result<std::uint64_t> next_epoch(Deadline deadline) override;
  Result<std::uint64_t> owed_epoch(Deadline deadline) override;
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override;
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max,
                                     Deadline deadline) override;
  bool is_shared() const override { return false; }
  std::string name() const override { return name_; }

 private:
  SqliteStore(std::string name, std::unique_ptr<detail::SqliteWriter> writer);

  const std::string name_;
  const std::unique_ptr<detail::SqliteWriter> writer_;
};

}  // namespace corolane::framework
