// SPDX-License-Identifier: MIT
// A wrapper of SQLite (https://sqlite.org/cinterface.html) without its pointers and codes: a
// database and its statements, with failures as Error. Only this header includes the library.
//
// Calls block. Not thread-safe: one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::framework::detail {

class SqliteDatabase {
 public:
  SqliteDatabase() = default;
  // Its statements must have been destroyed. Moves the write-ahead log into the file.
  ~SqliteDatabase() { sqlite3_close(handle_); }
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  // Creates a missing file. Call it once, before anything else; after a failure the database can
  // only be destroyed. Fails with not_found when there is no such folder, or with
  // permission_denied.
  Result<void> open(const std::string& path);

  // Runs statements without parameters. All calls fail with resource_exhausted when the disk is
  // full, with failed_precondition when another process has the file or it is not a database, with
  // data_loss when it is damaged, with permission_denied, and with unavailable when the disk fails.
  Result<void> execute(const std::string& statements);
  // Return the first value of the first row.
  Result<std::int64_t> number(const char* statement);
  Result<std::string> text(const char* statement);

  bool is_in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
  // Rows that the last statement has changed.
  int changed_count() const { return sqlite3_changes(handle_); }

 private:
  friend class SqliteStatement;

  Error error(int result) const;

  sqlite3* handle_ = nullptr;
};

// Prepared once and run often: values are bound, then each step() gives a row, then reset().
class SqliteStatement {
 public:
  SqliteStatement() = default;
  ~SqliteStatement() { sqlite3_finalize(handle_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  // Call it once, before anything else. The database outlives it.
  Result<void> prepare(SqliteDatabase& database, const char* text);

  // Parameters count from 1; an unbound parameter is NULL. The bytes must stay until reset().
  void bind_text(int parameter, std::string_view text);
  void bind_bytes(int parameter, std::string_view bytes);
  void bind_number(int parameter, std::int64_t number);

  // True when there is a row to read, false at the end.
  Result<bool> step();
  // Return a value of the present row; columns count from 0.
  std::int64_t number(int column) const { return sqlite3_column_int64(handle_, column); }
  std::string bytes(int column) const;

  void reset();

 private:
  SqliteDatabase* database_ = nullptr;
  sqlite3_stmt* handle_ = nullptr;
};

}  // namespace corolane::framework::detail
