// SPDX-License-Identifier: MIT
#include "framework/store/detail/sqlite.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::framework::detail {
namespace {

// The meaning of a failure for the operator.
struct Meaning {
  Code code;
  const char* advice;
};

// Result codes are listed at https://sqlite.org/rescode.html; the lowest byte is the kind.
Meaning meaning_of(int result, int system_error) {
  constexpr Meaning full = {Code::resource_exhausted,
                            "the disk is full; make room on the file system of this file"};
  switch (result & 0xff) {
    case SQLITE_FULL:
      return full;
    case SQLITE_NOMEM:
      return {Code::unavailable, "the process is out of memory"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::failed_precondition,
              "another process has the file open, and only one may use it; stop that one "
              "(`fuser` followed by the path names it) or take another file"};
    case SQLITE_NOTADB:
      return {Code::failed_precondition, "this is not an SQLite file; use another path"};
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return {Code::permission_denied,
              "the process may not write there; let it, or take another "
              "path"};
    case SQLITE_CORRUPT:
      return {Code::data_loss, "the file is damaged; replace it by a backup"};
    case SQLITE_TOOBIG:
      return {Code::invalid_argument, "it is too large to be stored"};
    default:
      // SQLite reports a full disk as a general I/O error unless a plain write fails.
      if (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG) return full;
      return {Code::unavailable, "the disk or its file system fails"};
  }
}

Error cannot_open(const std::string& path, int system_error) {
  const std::string folder = std::filesystem::absolute(path).parent_path().string();
  const std::string reason = std::generic_category().message(system_error);
  std::error_code ignored;
  if (system_error == ENOENT && !std::filesystem::exists(folder, ignored)) {
    return Error(Code::not_found, "there is no folder " + folder + "; make it (mkdir -p " + folder +
                                      ") or take another path");
  }
  // When SQLite cannot create a file, it tries to open one for reading, which does not exist.
  if (system_error == ENOENT || system_error == EACCES || system_error == EPERM) {
    return Error(Code::permission_denied, "the process may not make or open files in " + folder +
                                              " (" + reason +
                                              "); let it (chown, chmod) or take another path");
  }
  return Error(Code::failed_precondition,
               "it cannot be opened as a file (" + reason + "); take another path");
}

void expect_bound(int result) {
  check(result == SQLITE_OK, "a statement has that parameter, and the value is below 1 GB");
}

}  // namespace

Result<void> SqliteDatabase::open(const std::string& path) {
  constexpr int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int result = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);
  if ((result & 0xff) == SQLITE_CANTOPEN) {
    return cannot_open(path, sqlite3_system_errno(handle_));
  }
  if (result != SQLITE_OK) return error(result);
  // SQLite opens a file without write permission for reading.
  if (sqlite3_db_readonly(handle_, "main") != 0) return error(SQLITE_READONLY);
  return {};
}

Result<void> SqliteDatabase::execute(const std::string& statements) {
  const int result = sqlite3_exec(handle_, statements.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return error(result);
  return {};
}

Result<std::int64_t> SqliteDatabase::number(const char* statement) {
  SqliteStatement query;
  if (auto prepared = query.prepare(*this, statement); !prepared) return prepared.error();
  const auto row = query.step();
  if (!row) return row.error();
  return query.number(0);
}

Result<std::string> SqliteDatabase::text(const char* statement) {
  SqliteStatement query;
  if (auto prepared = query.prepare(*this, statement); !prepared) return prepared.error();
  const auto row = query.step();
  if (!row) return row.error();
  return query.bytes(0);
}

Error SqliteDatabase::error(int result) const {
  const int kind = result & 0xff;
  // Set only by system failures.
  const int system_error = kind == SQLITE_IOERR ? sqlite3_system_errno(handle_) : 0;
  const Meaning meaning = meaning_of(result, system_error);
  std::string message = std::string(meaning.advice) + " (" + sqlite3_errstr(kind) + ", code " +
                        std::to_string(result);
  if (system_error != 0) message += ": " + std::generic_category().message(system_error);
  return Error(meaning.code, message + ")");
}

Result<void> SqliteStatement::prepare(SqliteDatabase& database, const char* text) {
  database_ = &database;
  const int result =
      sqlite3_prepare_v3(database.handle_, text, -1, SQLITE_PREPARE_PERSISTENT, &handle_, nullptr);
  if (result != SQLITE_OK) return database.error(result);
  return {};
}

void SqliteStatement::bind_text(int parameter, std::string_view text) {
  // An empty view may have a null pointer, which would be bound as NULL.
  expect_bound(sqlite3_bind_text64(handle_, parameter, text.empty() ? "" : text.data(), text.size(),
                                   SQLITE_STATIC, SQLITE_UTF8));
}

void SqliteStatement::bind_bytes(int parameter, std::string_view bytes) {
  expect_bound(sqlite3_bind_blob64(handle_, parameter, bytes.empty() ? "" : bytes.data(),
                                   bytes.size(), SQLITE_STATIC));
}

void SqliteStatement::bind_number(int parameter, std::int64_t number) {
  expect_bound(sqlite3_bind_int64(handle_, parameter, number));
}

Result<bool> SqliteStatement::step() {
  const int result = sqlite3_step(handle_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return database_->error(result);
}

std::string SqliteStatement::bytes(int column) const {
  const auto* const data = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  // An empty value has a null pointer.
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

void SqliteStatement::reset() {
  sqlite3_reset(handle_);
  // The bound bytes may be gone.
  sqlite3_clear_bindings(handle_);
}

}  // namespace corolane::framework::detail
