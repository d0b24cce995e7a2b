// SPDX-License-Identifier: MIT
// The file of an SqliteStore: its contents, and the operations of one transaction.
//
// It belongs to one process, which holds SQLite's lock on it. application_id, "Cor1", marks it as
// ours, and user_version is the format. The tables are in sqlite_file.cc.
//
// Calls block. Not thread-safe: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
  // Creates a missing file. Errors say what to do, but do not name the file; see
  // SqliteStore::open().
  static Result<std::unique_ptr<SqliteFile>> open(const std::string& path);
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  // The calls between begin() and commit() take effect together and survive a loss of power once
  // commit() has returned, or have no effect. After any failure other than aborted, roll_back() has
  // to follow.
  Result<void> begin();
  // Errors have maybe_executed.
  Result<void> commit();
  void roll_back();

  // The calls of Store, in a transaction. After `aborted` nothing has changed. owed_epoch(), seal()
  // and release() do not change the file.
  Result<std::uint64_t> next_epoch();
  Result<std::uint64_t> owed_epoch();
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch);
  Result<void> release(const ObjectKey& key, std::uint64_t epoch);
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object);
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max);
  Result<std::size_t> forget(Partition partition, WallTime now, std::size_t count_max);

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
  void raise_floor(const ObjectKey& key, std::uint64_t epoch);
  Result<void> note_tombstone(const ObjectKey& key, std::uint64_t version, WallTime forget_at);

  SqliteDatabase database_;
  SqliteStatement begin_, commit_, settle_;
  SqliteStatement draw_, drawn_, pay_, find_, mark_of_, add_, replace_, due_;
  SqliteStatement bury_, expired_, remove_, unbury_;
  bool is_unsettled_ = false;     // A commit has failed, and none has succeeded since.
  std::uint64_t owed_epoch_ = 0;  // Above the stored epoch, until a commit stores it.
  bool is_paid_ = false;          // In this transaction.
  // Epochs above those of the rows, by type and id. All writers are in this process and pass
  // through here, so the seals need not outlive it and cost no write.
  std::unordered_map<std::string, std::uint64_t> seals_;
  std::map<Partition, std::uint64_t> floors_;  // The latest epochs of objects without a row.
  std::vector<std::string> written_;  // In this transaction: after its commit their rows have the
                                      // epochs, or are gone.
};

}  // namespace corolane::framework::detail
