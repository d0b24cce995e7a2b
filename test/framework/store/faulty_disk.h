// SPDX-License-Identifier: MIT
// A disk for SQLite that fails on demand, and knows the files that a power loss would leave.
//
//   FaultyDisk disk;
//   auto store = SqliteStore::open(path);
//   disk.set_fault(FaultyDisk::Fault::full);
//   ...
//   disk.lose_power(folder, other_folder);  // The files after a power loss.
//
// While it exists, it replaces the disk for all files that SQLite opens. Thread-safe.
#pragma once

#include <sqlite3.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>

namespace corolane::test {

class FaultyDisk {
 public:
  enum class Fault : std::uint8_t {
    none,
    full,         // Nothing can be written.
    broken,       // Nothing can be written, for another reason.
    sync_broken,  // Written data may be lost.
    held,         // A sync waits until the fault is cleared.
  };

  // One at a time; create it before files are opened, destroy it after they are closed.
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  void set_fault(Fault fault);
  // Blocks the thread until a sync of another thread is held.
  void wait_until_held();

  // The number of syncs of files whose names end with `suffix`.
  std::size_t sync_count(const std::string& suffix) const;

  // Copies the files of `folder`, as of their last sync, into another folder; the originals stay in
  // use.
  void lose_power(const std::filesystem::path& folder, const std::filesystem::path& found) const;

 private:
  struct File;
  template <auto method, typename... Arguments>
  static int forward(sqlite3_file* file, Arguments... arguments);
  static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at);
  static int sync(sqlite3_file* file, int flags);
  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* opened);
  static int remove(sqlite3_vfs* vfs, const char* path, int needs_sync);

  int may_write();
  int sync_with_faults(sqlite3_file* file, int flags);

  sqlite3_vfs* const real_;
  sqlite3_vfs vfs_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All of these are guarded by mutex_.
  Fault fault_ = Fault::none;
  bool holds_ = false;
  std::map<std::string, std::string> durable_;  // By path.
  std::map<std::string, std::size_t> sync_counts_;
};

}  // namespace corolane::test
