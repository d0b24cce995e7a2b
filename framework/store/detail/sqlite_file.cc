// SPDX-License-Identifier: MIT
#include "framework/store/detail/sqlite_file.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "framework/store/detail/refusals.h"

namespace corolane::framework::detail {
namespace {

constexpr std::int64_t application_id = 0x436f7231;  // "Cor1".
constexpr std::int64_t format = 1;

// Set before anything is read. The lock is taken with the first transaction and kept.
constexpr const char* lock_settings = "PRAGMA locking_mode = EXCLUSIVE";

// FULL waits for the disk at every commit. The write-ahead log is moved into the file every
// thousand pages; a larger log is truncated afterwards.
constexpr const char* settings = R"(
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 1000;
  PRAGMA journal_size_limit = 67108864;
)";

// 64-bit numbers are stored as signed ones. `wake_at` is in milliseconds since 1970, UTC.
constexpr const char* tables = R"(
  CREATE TABLE object (
    type TEXT NOT NULL,
    id BLOB NOT NULL,
    partition INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    version INTEGER NOT NULL,
    wake_at INTEGER,
    state BLOB NOT NULL,
    PRIMARY KEY (type, id)
  );
  CREATE INDEX object_by_wake_at ON object (partition, wake_at, type, id)
    WHERE wake_at IS NOT NULL;
  CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
  INSERT INTO counter VALUES ('epoch', 0), ('settled', 0);
)";

// The versions of objects that are tombstones. Builds that do not know this table leave it alone:
// when such a build writes an object again, its version is another one.
constexpr const char* tombstone_table = R"(
  CREATE TABLE IF NOT EXISTS tombstone (
    type TEXT NOT NULL,
    id BLOB NOT NULL,
    partition INTEGER NOT NULL,
    version INTEGER NOT NULL,
    forget_at INTEGER NOT NULL,
    PRIMARY KEY (type, id)
  );
  CREATE INDEX IF NOT EXISTS tombstone_by_time ON tombstone (partition, forget_at, type, id);
)";

// Resets a statement after its use.
class Run {
 public:
  explicit Run(SqliteStatement& statement) : statement_(statement) {}
  ~Run() { statement_.reset(); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Run& key(const ObjectKey& key) {
    statement_.bind_text(1, key.type);
    statement_.bind_bytes(2, key.id);
    return *this;
  }
  SqliteStatement& operator*() { return statement_; }
  SqliteStatement* operator->() { return &statement_; }

 private:
  SqliteStatement& statement_;
};

std::int64_t to_signed(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t to_unsigned(std::int64_t number) { return static_cast<std::uint64_t>(number); }

// No type has a zero byte.
std::string seal_key(const ObjectKey& key) {
  return std::string(key.type).append(1, '\0').append(key.id);
}

Result<void> done(Result<bool> step) {
  if (!step) return std::move(step.error());
  return {};
}

}  // namespace

Result<std::unique_ptr<SqliteFile>> SqliteFile::open(const std::string& path) {
  std::unique_ptr<SqliteFile> file(new SqliteFile);
  if (auto prepared = file->prepare(path); !prepared) return std::move(prepared.error());
  return file;
}

Result<void> SqliteFile::prepare(const std::string& path) {
  if (auto opened = database_.open(path); !opened) return opened;
  if (auto locks = database_.execute(lock_settings); !locks) return locks;
  // Checked before any change: the file may belong to another program.
  const auto ours = is_ours();
  if (!ours) return ours.error();
  const auto mode = database_.text("PRAGMA journal_mode = WAL");
  if (!mode) return mode.error();
  if (*mode != "wal") {
    return Error(Code::failed_precondition,
                 "no write-ahead log is possible (its mode is " + *mode + "); use a regular file");
  }
  if (auto set = database_.execute(settings); !set) return set;
  if (!*ours) {
    if (auto made = make_tables(); !made) return made;
  }
  if (auto made = database_.execute(tombstone_table); !made) return made;
  return prepare_statements();
}

// Returns false for a new file, and an error for a file of another program.
Result<bool> SqliteFile::is_ours() {
  const auto owner = database_.number("PRAGMA application_id");
  if (!owner) return owner.error();
  const auto its_format = database_.number("PRAGMA user_version");
  if (!its_format) return its_format.error();
  const auto table_count = database_.number("SELECT count(*) FROM sqlite_master");
  if (!table_count) return table_count.error();
  if (*owner == application_id) {
    if (*its_format == format) return true;
    return Error(Code::failed_precondition,
                 "its format is " + std::to_string(*its_format) + " and this program knows " +
                     std::to_string(format) + "; run the version that created it");
  }
  if (*owner == 0 && *table_count == 0) return false;
  return Error(Code::failed_precondition, "it is a database of another program (application_id " +
                                              std::to_string(*owner) +
                                              "); use a separate file for the objects");
}

Result<void> SqliteFile::make_tables() {
  return database_.execute("BEGIN IMMEDIATE;" + std::string(tables) +
                           "PRAGMA application_id = " + std::to_string(application_id) +
                           "; PRAGMA user_version = " + std::to_string(format) + "; COMMIT");
}

Result<void> SqliteFile::prepare_statements() {
  const std::pair<SqliteStatement*, const char*> texts[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&settle_, "UPDATE counter SET value = value + 1 WHERE name = 'settled'"},
      {&draw_, "UPDATE counter SET value = value + 1 WHERE name = 'epoch' RETURNING value"},
      {&drawn_, "SELECT value FROM counter WHERE name = 'epoch'"},
      {&pay_, "UPDATE counter SET value = max(value, ?1) WHERE name = 'epoch'"},
      {&find_,
       "SELECT epoch, version, state, EXISTS (SELECT 1 FROM tombstone WHERE type = ?1 AND id = ?2 "
       "AND version = object.version) FROM object WHERE type = ?1 AND id = ?2"},
      {&mark_of_, "SELECT epoch, version FROM object WHERE type = ?1 AND id = ?2"},
      {&add_, "INSERT INTO object VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"},
      {&replace_,
       "UPDATE object SET epoch = ?4, version = ?5, wake_at = ?6, state = ?7 "
       "WHERE type = ?1 AND id = ?2"},
      {&due_,
       "SELECT type, id, wake_at FROM object WHERE partition = ?1 AND wake_at <= ?2 "
       "ORDER BY wake_at, type, id LIMIT ?3"},
      {&bury_, "INSERT OR REPLACE INTO tombstone VALUES (?1, ?2, ?3, ?4, ?5)"},
      {&expired_,
       "SELECT type, id, version FROM tombstone WHERE partition = ?1 AND forget_at <= ?2 "
       "ORDER BY forget_at, type, id LIMIT ?3"},
      {&remove_, "DELETE FROM object WHERE type = ?1 AND id = ?2 AND version = ?3"},
      {&unbury_, "DELETE FROM tombstone WHERE type = ?1 AND id = ?2"}};
  for (const auto& [statement, text] : texts) {
    if (auto prepared = statement->prepare(database_, text); !prepared) return prepared;
  }
  return {};
}

Result<void> SqliteFile::begin() {
  is_paid_ = false;
  written_.clear();
  Run begin(begin_);
  if (auto begun = begin->step(); !begun) return std::move(begun.error());
  if (!is_unsettled_) return {};
  // A recovery after a crash may still find a commit that has failed, and would make a seal
  // answered meanwhile wrong. This write overwrites that commit in the log.
  return done(Run(settle_)->step());
}

Result<void> SqliteFile::commit() {
  auto committed = Run(commit_)->step();
  if (committed) {
    is_unsettled_ = false;
    if (is_paid_) owed_epoch_ = 0;
    for (const std::string& key : written_) seals_.erase(key);
    return {};
  }
  // On a full disk the log has no room for the commit frame, which comes last, so a recovery finds
  // nothing.
  is_unsettled_ = is_unsettled_ || committed.error().code() != Code::resource_exhausted;
  return std::move(committed.error()).with_maybe_executed();
}

void SqliteFile::roll_back() {
  // Some failures have rolled back already. A failure of the rollback itself does no harm.
  if (database_.is_in_transaction()) static_cast<void>(database_.execute("ROLLBACK"));
}

// Stored before any other change: epochs of a later process must be above it.
Result<void> SqliteFile::pay_epoch() {
  if (owed_epoch_ == 0) return {};
  Run pay(pay_);
  pay->bind_number(1, to_signed(owed_epoch_));
  if (auto paid = pay->step(); !paid) return std::move(paid.error());
  is_paid_ = true;
  return {};
}

Result<std::uint64_t> SqliteFile::next_epoch() {
  if (auto paid = pay_epoch(); !paid) return paid.error();
  Run draw(draw_);
  if (auto drawn = draw->step(); !drawn) return std::move(drawn.error());
  return to_unsigned(draw->number(0));
}

Result<std::uint64_t> SqliteFile::owed_epoch() {
  Run drawn(drawn_);
  if (auto read = drawn->step(); !read) return std::move(read.error());
  owed_epoch_ = std::max(owed_epoch_, to_unsigned(drawn->number(0))) + 1;
  return owed_epoch_;
}

Result<StoredObject> SqliteFile::seal(const ObjectKey& key, std::uint64_t epoch) {
  Run find(find_);
  const auto found = find.key(key)->step();
  if (!found) return found.error();
  const std::uint64_t row_epoch = *found ? to_unsigned(find->number(0)) : 0;
  const auto seal = seals_.find(seal_key(key));
  std::uint64_t last_epoch = seal == seals_.end() ? row_epoch : std::max(row_epoch, seal->second);
  if (last_epoch == 0) last_epoch = floors_[key.partition];
  if (last_epoch > epoch) return sealed_by_later_owner(key, last_epoch, epoch);
  if (row_epoch < epoch) seals_.insert_or_assign(seal_key(key), epoch);
  if (!*found) return StoredObject();
  return StoredObject{.version = to_unsigned(find->number(1)),
                      .bytes = find->bytes(2),
                      .is_tombstone = find->number(3) != 0};
}

Result<void> SqliteFile::release(const ObjectKey& key, std::uint64_t epoch) {
  const auto seal = seals_.find(seal_key(key));
  if (seal == seals_.end() || seal->second != epoch) return {};
  seals_.erase(seal);
  raise_floor(key, epoch);
  return {};
}

void SqliteFile::raise_floor(const ObjectKey& key, std::uint64_t epoch) {
  std::uint64_t& floor = floors_[key.partition];
  floor = std::max(floor, epoch);
}

// Returns the epoch of the seal and the stored version.
Result<SqliteFile::Found> SqliteFile::find_mark(const ObjectKey& key) {
  Run mark_of(mark_of_);
  const auto row = mark_of.key(key)->step();
  if (!row) return row.error();
  Found found{.is_stored = *row};
  if (*row) {
    found.mark = {.epoch = to_unsigned(mark_of->number(0)),
                  .version = to_unsigned(mark_of->number(1))};
  }
  const auto seal = seals_.find(seal_key(key));
  if (seal != seals_.end()) found.mark.epoch = std::max(found.mark.epoch, seal->second);
  return found;
}

Result<void> SqliteFile::write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                               const ObjectWrite& object) {
  const auto found = find_mark(key);
  if (!found) return found.error();
  const RowMark expected{.epoch = epoch, .version = version};
  // An unsealed object has the mark of epoch 0.
  if (found->mark != expected || (!found->is_stored && epoch == 0)) {
    return not_to_be_replaced(key, found->mark, expected);
  }
  if (auto paid = pay_epoch(); !paid) return paid;
  Run put(found->is_stored ? replace_ : add_);
  if (!found->is_stored) put.key(key)->bind_number(3, key.partition);
  put.key(key)->bind_number(4, to_signed(epoch));
  put->bind_number(5, to_signed(object.version_after(version)));
  if (object.wake_at) put->bind_number(6, object.wake_at->time_since_epoch().count());
  put->bind_bytes(7, object.bytes);
  if (auto stored = put->step(); !stored) return std::move(stored.error());
  written_.push_back(seal_key(key));
  if (!object.forget_at) return {};
  return note_tombstone(key, object.version_after(version), *object.forget_at);
}

Result<void> SqliteFile::note_tombstone(const ObjectKey& key, std::uint64_t version,
                                        WallTime forget_at) {
  Run bury(bury_);
  bury.key(key)->bind_number(3, key.partition);
  bury->bind_number(4, to_signed(version));
  bury->bind_number(5, forget_at.time_since_epoch().count());
  return done(bury->step());
}

// A row that was written again has another version, and stays.
Result<std::size_t> SqliteFile::forget(Partition partition, WallTime now, std::size_t count_max) {
  struct Tombstone {
    std::string type;
    std::string id;
    std::int64_t version;
  };
  constexpr std::size_t limit_max = std::numeric_limits<std::int64_t>::max();
  std::vector<Tombstone> tombstones;
  Run expired(expired_);
  expired->bind_number(1, partition);
  expired->bind_number(2, now.time_since_epoch().count());
  expired->bind_number(3, to_signed(std::min(count_max, limit_max)));
  for (;;) {
    const auto row = expired->step();
    if (!row) return row.error();
    if (!*row) break;
    tombstones.push_back(
        {.type = expired->bytes(0), .id = expired->bytes(1), .version = expired->number(2)});
  }
  for (const auto& [type, id, version] : tombstones) {
    const ObjectKey key = {.type = type, .id = id, .partition = partition};
    const auto found = find_mark(key);
    if (!found) return found.error();
    Run remove(remove_);
    remove.key(key)->bind_number(3, version);
    if (auto removed = remove->step(); !removed) return removed.error();
    if (database_.changed_count() > 0) {
      raise_floor(key, found->mark.epoch);
      written_.push_back(seal_key(key));
    }
    Run unbury(unbury_);
    if (auto gone = unbury.key(key)->step(); !gone) return gone.error();
  }
  return tombstones.size();
}

Result<std::vector<DueObject>> SqliteFile::due(Partition partition, WallTime until,
                                               std::size_t count_max) {
  constexpr std::size_t limit_max = std::numeric_limits<std::int64_t>::max();
  Run due(due_);
  due->bind_number(1, partition);
  due->bind_number(2, until.time_since_epoch().count());
  due->bind_number(3, to_signed(std::min(count_max, limit_max)));
  std::vector<DueObject> objects;
  for (;;) {
    const auto row = due->step();
    if (!row) return row.error();
    if (!*row) return objects;
    objects.push_back({.type = due->bytes(0),
                       .id = due->bytes(1),
                       .wake_at = WallTime(std::chrono::milliseconds(due->number(2)))});
  }
}

}  // namespace corolane::framework::detail
