// The file of an SqliteStore: what lies in it, and what one transaction does to it.
//
// It belongs to one process, which holds the lock of SQLite on it, and says whose it is by
// application_id, "Cor1", and in which format by user_version. The tables are in sqlite_file.cc.
//
// Calls block. Not thread-safe: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "coroutine/base/result.h"
#include "framework/store/detail/refusals.h"
#include "framework/store/detail/sqlite.h"
#include "framework/store/store.h"

namespace corolane::framework::detail {

class SqliteFile {
 public:
  // Makes the file where there is none. Errors say what to do, but not which file; see
  // SqliteStore::open().
  static Result<std::unique_ptr<SqliteFile>> open(const std::string& path);
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  // What stands between begin() and commit() is done as a whole and survives a loss of power once
  // commit() has returned, or is not done at all. After a failure of any call that is not aborted,
  // roll_back() has to follow.
  Result<void> begin();
  // An error says maybe_executed.
  Result<void> commit();
  void roll_back();

  // As the calls of Store, in a transaction. An `aborted` has changed nothing. Those in the middle
  // change nothing of the file.
  Result<std::uint64_t> next_epoch();
  Result<std::uint64_t> owed_epoch();
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch);
  Result<void> release(const ObjectKey& key, std::uint64_t epoch);
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object);
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max);

 private:
  SqliteFile() = default;

  struct Found {
    RowMark mark = {};
    bool is_stored = false;
  };

  Result<void> prepare(const std::string& path);
  Result<void> pay_epoch();
  Result<Found> find_mark(const ObjectKey& key);
  Result<bool> is_ours();
  Result<void> make_tables();
  Result<void> prepare_statements();

  SqliteDatabase database_;
  SqliteStatement begin_, commit_, settle_;
  SqliteStatement draw_, drawn_, pay_, find_, mark_of_, add_, replace_, due_;
  bool is_unsettled_ = false;     // A commit has failed, and none was good since.
  std::uint64_t owed_epoch_ = 0;  // Above the stored one, until a commit stores it.
  bool is_paid_ = false;          // In this transaction.
  // Epochs above those of the rows: whoever could write against them is in this process and comes
  // through here, so they are needed no longer than it lives, and cost no write. By type and id.
  std::unordered_map<std::string, std::uint64_t> seals_;
  std::vector<std::string> written_;  // In this transaction: then their rows have the epochs.
};

}  // namespace corolane::framework::detail
