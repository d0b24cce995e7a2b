// Where objects are kept while nobody plays: one row for each, and the last word on who owns it.
//
// Safety comes from here. An owner seals an object with its epoch before it loads it, and every
// write names the epoch and the version that it replaces. So whatever a past owner believes, it
// writes nothing any more once a later one has sealed.
//
// All calls suspend, and come from tasks: of any shard's scheduler, unless a backend says
// otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/time/wall_clock.h"
#include "framework/wire/partition.h"

namespace corolane::framework {

// Names an object; valid during the call.
struct ObjectKey {
  std::string_view type;  // "package.Counter".
  std::string_view id;    // Any bytes.
};

struct StoredObject {
  std::uint64_t version = 0;  // How often it was written; 0: never, and `bytes` is empty.
  std::string bytes;

  friend bool operator==(const StoredObject&, const StoredObject&) = default;
};

// What a write puts in the place of what was there.
struct ObjectWrite {
  std::string_view bytes;
  // When it wants to be called by itself, by due(); nothing: never.
  std::optional<WallTime> wake_at = {};
};

struct DueObject {
  std::string type;
  std::string id;
  WallTime wake_at;

  friend bool operator==(const DueObject&, const DueObject&) = default;
};

class Store {
 public:
  virtual ~Store() = default;

  // A number larger than all that it has returned before, also to other processes and before a
  // restart.
  virtual Result<std::uint64_t> next_epoch(Deadline deadline) = 0;

  // The same while the disk is full, so that a node may begin to read: the number is stored before
  // anything else is, and nothing that is stored can have it until then. Of a store that belongs to
  // one process; others fail with unimplemented.
  virtual Result<std::uint64_t> owed_epoch(Deadline) {
    return Error(Code::unimplemented, "epochs of this store are stored at once");
  }

  // From when it returns on only `epoch` and later ones write this object; where a store belongs to
  // one process, until that ends, and all past owners with it. Returns what is stored.
  // The same owner may seal again, to learn what became of a write. Fails with aborted when a later
  // epoch has sealed already: the caller is no owner.
  //
  // All of these fail with unavailable while the store is away, with resource_exhausted when its
  // disk is full or, with a retry_after, when its queue is, and with deadline_exceeded or
  // cancelled; when it may have been done all the same, the error says maybe_executed.
  virtual Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch,
                                    Deadline deadline) = 0;

  // The owner lets the object go, and has written nothing since it has sealed it by `epoch`: what
  // the seal has made goes with it, so names that were only read leave nothing. Changes nothing
  // when a later epoch has sealed meanwhile, nor anything that was ever written.
  //
  // Why this is safe: the object is as it was before this owner asked for it, and this owner has
  // nothing of it in memory any more. An earlier owner that seals again afterwards finds what this
  // one found, and whatever it writes the next owner loads: accepted writes keep their order, and
  // none is lost. Its replies are stopped by the fence, as always. An earlier owner that has sealed
  // before, and seals no more, is refused: without a row nothing is replaced.
  virtual Result<void> release(const ObjectKey&, std::uint64_t /*epoch*/, Deadline) { return {}; }

  // Replaces version `version`, which becomes version + 1. When it returns, no crash undoes it.
  // Fails with aborted, and changes nothing, unless the object is sealed by `epoch` and has that
  // version.
  virtual Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                             const ObjectWrite& object, Deadline deadline) = 0;

  // Objects of that partition whose wake_at is not later than `until`, at most `count_max`, the
  // earliest first.
  virtual Result<std::vector<DueObject>> due(Partition partition, WallTime until,
                                             std::size_t count_max, Deadline deadline) = 0;

  // Whether nodes on other machines see the same objects: what a cluster needs.
  virtual bool is_shared() const = 0;
  // "sqlite /var/lib/chess/objects.db", for people.
  virtual std::string name() const = 0;
};

}  // namespace corolane::framework
