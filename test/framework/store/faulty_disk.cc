// SPDX-License-Identifier: MIT
// A layer of file methods (https://sqlite.org/c3ref/io_methods.html) above those of the system.
#include "test/framework/store/faulty_disk.h"

#include <fstream>
#include <iterator>

#include "coroutine/base/check.h"

namespace corolane::test {

// The file as SQLite sees it; the real file lies behind it.
struct FaultyDisk::File {
  sqlite3_file base;
  FaultyDisk* disk;
  const char* path;

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
};

// Calls the method of the system.
template <auto method, typename... Arguments>
int FaultyDisk::forward(sqlite3_file* file, Arguments... arguments) {
  sqlite3_file* const real = File::of(file).real();
  return (real->pMethods->*method)(real, arguments...);
}

FaultyDisk::FaultyDisk() : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
  vfs_.zName = "faulty";
  vfs_.szOsFile += static_cast<int>(sizeof(File));
  vfs_.pAppData = this;
  vfs_.xOpen = &open;
  vfs_.xDelete = &remove;
  check(sqlite3_vfs_register(&vfs_, /*makeDflt=*/1) == SQLITE_OK, "a disk can be replaced");
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(&vfs_); }

void FaultyDisk::set_fault(Fault fault) {
  const std::scoped_lock lock(mutex_);
  fault_ = fault;
  changed_.notify_all();
}

void FaultyDisk::wait_until_held() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return holds_; });
}

std::size_t FaultyDisk::sync_count(const std::string& suffix) const {
  const std::scoped_lock lock(mutex_);
  std::size_t sum = 0;
  for (const auto& [path, count] : sync_counts_) {
    if (path.ends_with(suffix)) sum += count;
  }
  return sum;
}

void FaultyDisk::lose_power(const std::filesystem::path& folder,
                            const std::filesystem::path& found) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, bytes] : durable_) {
    const std::filesystem::path path(name);
    if (path.parent_path() != folder) continue;
    std::ofstream(found / path.filename(), std::ios::binary) << bytes;
  }
}

int FaultyDisk::may_write() {
  const std::scoped_lock lock(mutex_);
  if (fault_ == Fault::full) return SQLITE_FULL;
  return fault_ == Fault::broken ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

int FaultyDisk::sync_with_faults(sqlite3_file* file, int flags) {
  const char* const path = File::of(file).path;
  std::unique_lock lock(mutex_);
  holds_ = fault_ == Fault::held;
  changed_.notify_all();
  changed_.wait(lock, [this] { return fault_ != Fault::held; });
  holds_ = false;
  ++sync_counts_[path];
  if (fault_ == Fault::sync_broken) return SQLITE_IOERR_FSYNC;
  const int result = forward<&sqlite3_io_methods::xSync>(file, flags);
  if (result != SQLITE_OK) return result;
  std::string& bytes = durable_[path];
  bytes.resize(std::filesystem::file_size(path));
  std::ifstream(path, std::ios::binary).read(bytes.data(), std::ssize(bytes));
  return SQLITE_OK;
}

int FaultyDisk::write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  const int may = File::of(file).disk->may_write();
  if (may != SQLITE_OK) return may;
  return forward<&sqlite3_io_methods::xWrite>(file, bytes, count, at);
}

int FaultyDisk::sync(sqlite3_file* file, int flags) {
  return File::of(file).disk->sync_with_faults(file, flags);
}

int FaultyDisk::open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                     int* opened) {
  using Methods = sqlite3_io_methods;
  // Version 1 of the methods has no shared memory, and a file of one process needs none.
  static const Methods methods = [] {
    Methods ours = {};
    ours.iVersion = 1;
    ours.xClose = &forward<&Methods::xClose>;
    ours.xRead = &forward<&Methods::xRead>;
    ours.xWrite = &write;
    ours.xTruncate = &forward<&Methods::xTruncate>;
    ours.xSync = &sync;
    ours.xFileSize = &forward<&Methods::xFileSize>;
    ours.xLock = &forward<&Methods::xLock>;
    ours.xUnlock = &forward<&Methods::xUnlock>;
    ours.xCheckReservedLock = &forward<&Methods::xCheckReservedLock>;
    ours.xFileControl = &forward<&Methods::xFileControl>;
    ours.xSectorSize = &forward<&Methods::xSectorSize>;
    ours.xDeviceCharacteristics = &forward<&Methods::xDeviceCharacteristics>;
    return ours;
  }();
  auto& disk = *static_cast<FaultyDisk*>(vfs->pAppData);
  File& ours = File::of(file);
  ours.disk = &disk;
  ours.path = path;
  const int result = disk.real_->xOpen(disk.real_, path, ours.real(), flags, opened);
  ours.base.pMethods = result == SQLITE_OK ? &methods : nullptr;
  return result;
}

int FaultyDisk::remove(sqlite3_vfs* vfs, const char* path, int needs_sync) {
  auto& disk = *static_cast<FaultyDisk*>(vfs->pAppData);
  {
    const std::scoped_lock lock(disk.mutex_);
    disk.durable_.erase(path);
  }
  return disk.real_->xDelete(disk.real_, path, needs_sync);
}

}  // namespace corolane::test
