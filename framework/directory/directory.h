// A small table that all nodes of a cluster see alike: who lives, and who owns what.
//
// Keys and values are text. Every change of the table has a number, its revision, larger than all
// before; an entry knows the one that created it and the one that changed it last. A transaction
// looks at those numbers and changes entries, in one step. An entry may hang on a lease: it goes
// when its owner has not renewed the lease in time. The model is that of etcd
// (https://etcd.io/docs/v3.4/learning/data_model/); what the table says of nodes and partitions is
// cluster.h's.
//
// All of it belongs to one scheduler's thread. Calls suspend.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"

namespace corolane::framework {

class Directory {
 public:
  using Revision = std::uint64_t;
  using Lease = std::uint64_t;  // 0: none.

  struct Entry {
    std::string key = {};
    std::string value = {};
    Revision created_at = 0;
    Revision modified_at = 0;
  };

  struct Snapshot {
    Revision revision = 0;            // Of the whole table.
    std::vector<Entry> entries = {};  // By key.
  };

  // Holds when the number of the entry is, or is not, `revision`; that of no entry is 0.
  struct Condition {
    enum class Field : std::uint8_t { created_at, modified_at };

    std::string key = {};
    Field field = Field::modified_at;
    bool is_equal = true;
    Revision revision = 0;
  };

  struct Put {
    std::string key = {};
    std::string value = {};
    Lease lease = 0;
  };

  // When all conditions hold, everything is put and then removed, in one step. At most
  // `transaction_size_max` conditions, and as many changes, each of another key.
  struct Transaction {
    std::vector<Condition> conditions = {};
    std::vector<Put> puts = {};
    std::vector<std::string> removals = {};
  };

  struct Outcome {
    bool is_done = false;   // The conditions held.
    Revision revision = 0;  // Of the table: when it is done, that of the change.
  };

  struct Change {
    Entry entry = {};  // Of one that was removed: its key, and in modified_at the revision of that.
    bool is_removed = false;
  };
  using OnChange = std::function<void(const Change& change)>;

  // What etcd takes by default (--max-txn-ops).
  static constexpr std::size_t transaction_size_max = 128;

  virtual ~Directory() = default;

  // The lease is kept for at least `time_to_live` from when this, or keep_alive(), was asked.
  //
  // All of these fail with unavailable while the directory is away, with unauthenticated or
  // permission_denied when it does not let us, and with deadline_exceeded or cancelled; a change
  // that may have been made all the same says maybe_executed.
  virtual Result<Lease> grant(std::chrono::seconds time_to_live, Deadline deadline) = 0;
  // Fails with not_found when the lease has ended. Not held up by any other call.
  virtual Result<void> keep_alive(Lease lease, Deadline deadline) = 0;
  // Ends it, and removes what hangs on it. One that has ended already is a success.
  virtual Result<void> revoke(Lease lease, Deadline deadline) = 0;

  // All entries whose keys begin with `prefix`, as they were at one revision, not before the call.
  virtual Result<Snapshot> list(std::string_view prefix, Deadline deadline) = 0;

  // Fails besides with invalid_argument when it is no such transaction, and with not_found when a
  // lease that it needs has ended: nothing is changed then.
  virtual Result<Outcome> commit(const Transaction& transaction, Deadline deadline) = 0;

  // Tells of every change of those entries from revision `from` on, in order, until it fails or
  // the task is cancelled: on the caller's task or the loop's stack, so `on_change` must not
  // suspend. Some may be missing or late: whatever must be right is asked by list() or a
  // transaction. Fails with out_of_range when the directory has forgotten changes since `from`.
  virtual Result<void> watch(std::string_view prefix, Revision from, const OnChange& on_change) = 0;

  // Whether nodes on other machines see the same table: what a cluster needs.
  virtual bool is_shared() const = 0;
  // "etcd http://10.0.0.5:2379", for people.
  virtual std::string name() const = 0;
};

}  // namespace corolane::framework
