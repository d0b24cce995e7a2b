// SPDX-License-Identifier: MIT
// Stores objects while they are not in use: one row for each. It is the authority on their owners.
//
//   auto object = store.seal(key, epoch, deadline);
//   if (!object) return object.error();
//   const std::string bytes = change(object->bytes);
//   auto written = store.write(key, epoch, object->version, {.bytes = bytes}, deadline);
//
// Safety comes from here. An owner seals an object with its epoch before it loads it, and every
// write names the epoch and the version that it replaces. So a former owner, whatever it believes,
// can write nothing once a later owner has sealed.
//
// All calls suspend, and are made from tasks: on any shard's scheduler, unless a backend says
// otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/time/wall_clock.h"
#include "framework/wire/directory_mark.h"
#include "framework/wire/partition.h"

namespace corolane::framework {

// Names an object; valid during the call.
struct ObjectKey {
  std::string_view type;  // "package.Counter".
  std::string_view id;    // Any bytes.
  // Always the same for an object.
  Partition partition = partition_of(type, id);
};

struct StoredObject {
  std::uint64_t version = 0;  // How often it was written; 0: never, and `bytes` is empty.
  std::string bytes;
  bool is_tombstone = false;  // See ObjectWrite::forget_at.

  friend bool operator==(const StoredObject&, const StoredObject&) = default;
};

// The new content of a row.
struct ObjectWrite {
  std::string_view bytes;
  // When due() should return the object; nothing: never.
  std::optional<WallTime> wake_at = {};
  // The object is destroyed, and this row is its tombstone: forget() removes it from then on,
  // unless it was written again before. A tombstone has no wake_at.
  std::optional<WallTime> forget_at = {};
  // The version that the row gets; 0: the one after the version that is replaced.
  std::uint64_t new_version = 0;

  std::uint64_t version_after(std::uint64_t version) const {
    return new_version != 0 ? new_version : version + 1;
  }
};

struct DueObject {
  std::string type;
  std::string id;
  WallTime wake_at;

  friend bool operator==(const DueObject&, const DueObject&) = default;
};

struct NoteOptions {
  // A mark with a later generation replaces the noted one.
  bool may_replace = false;
  // That of partition_count(), which an emptied store notes again; 0: not known.
  std::size_t partition_count = 0;
};

class Store {
 public:
  // How long a row is kept that holds nothing: a tombstone, and a seal of an object that was never
  // written. No former owner lives on for so long, and no request id of a client is remembered for
  // so long. The tombstone of an object that was called from outboxes stays for a day.
  static constexpr std::chrono::milliseconds empty_row_time = std::chrono::hours(1);

  virtual ~Store() = default;

  // The number of partitions of its objects. A store that holds nothing yet, and belongs to more
  // than one process, takes `wanted`, which is one; the others keep what they have.
  virtual Result<std::size_t> partition_count(std::size_t /*wanted*/, Deadline) {
    return partition_count_min;
  }

  // A number larger than all returned before, also to other processes and before a restart.
  virtual Result<std::uint64_t> next_epoch(Deadline deadline) = 0;

  // The same while the disk is full, so that a node can begin to read: the number is stored before
  // any other write, and until then no stored row can have it. Only for a store that belongs to one
  // process; others fail with unimplemented.
  virtual Result<std::uint64_t> owed_epoch(Deadline) {
    return Error(Code::unimplemented, "epochs of this store are stored at once");
  }

  // Writes something of no use, to learn whether there is room again. Fails with resource_exhausted
  // while there is none in any part of the store.
  virtual Result<void> try_room(Deadline deadline) {
    auto epoch = next_epoch(deadline);
    if (!epoch) return std::move(epoch.error());
    return {};
  }

  // Once it returns, only `epoch` and later ones can write this object. (A store that belongs to
  // one process guarantees this until that process ends, and all former owners with it.) Returns
  // the stored object. The same owner may seal again, to learn the outcome of a write, or that it
  // is still the owner. Fails with aborted when a later epoch has already sealed: the caller is not
  // the owner. A row that holds nothing may be gone empty_row_time after its last seal; it leaves
  // its epoch behind as the floor of its partition, and no earlier epoch creates a row there.
  //
  // All of these fail with unavailable while the store is away, with resource_exhausted when its
  // disk is full or, with a retry_after, when its queue is, and with deadline_exceeded or
  // cancelled. When the operation may have taken effect anyway, the error says maybe_executed.
  virtual Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch,
                                    Deadline deadline) = 0;

  // The owner gives the object up without having written since it sealed it by `epoch`: the row
  // that the seal created is removed, so names that were only read leave nothing behind. Changes
  // nothing when a later epoch has sealed meanwhile, or when the object was ever written.
  //
  // Why this is safe: the object is as it was before this owner sealed it, and this owner has
  // nothing of it in memory any more. An earlier owner that seals again afterwards is refused by
  // the floor of the partition, so it never answers after this one. An earlier owner that sealed
  // before, and does not seal again, is refused: without a row nothing is replaced.
  virtual Result<void> release(const ObjectKey&, std::uint64_t /*epoch*/, Deadline) { return {}; }

  // Replaces version `version`, which becomes version + 1. Once it returns, no crash undoes it.
  // Fails with aborted, and changes nothing, unless the object is sealed by `epoch` and has that
  // version.
  virtual Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                             const ObjectWrite& object, Deadline deadline) = 0;

  // Objects of that partition whose wake_at is not later than `until`, at most `count_max`, the
  // earliest first.
  virtual Result<std::vector<DueObject>> due(Partition partition, WallTime until,
                                             std::size_t count_max, Deadline deadline) = 0;

  // Removes rows of that partition that hold nothing and have expired by `now`, at most
  // `count_max`, the oldest first; returns their number. The argument of release() holds for them,
  // too: the rows of former owners have expired long after their last write.
  virtual Result<std::size_t> forget(Partition, WallTime /*now*/, std::size_t /*count_max*/,
                                     Deadline) {
    return 0;
  }

  // Notes the directory that decides on the owners of these objects, if none is noted or `mark`
  // continues the noted one. Returns what is noted then. Fails with failed_precondition when the
  // objects are in another number of partitions than the caller looks for: the store was emptied,
  // or is another one. A store that belongs to one process notes nothing.
  virtual Result<DirectoryMark> note_directory(const DirectoryMark& mark, const NoteOptions&,
                                               Deadline) {
    return mark;
  }

  // Whether nodes on other machines see the same objects, which a cluster needs.
  virtual bool is_shared() const = 0;
  // "sqlite /var/lib/chess/objects.db", for people.
  virtual std::string name() const = 0;
};

}  // namespace corolane::framework
