// SPDX-License-Identifier: MIT
// A small table that all nodes of a cluster share: the live nodes, and the owners of partitions.
//
//   auto lease = directory.grant(6s, deadline);
//   if (!lease) return lease.error();
//   auto outcome = directory.commit({.conditions = {{.key = "leader", .revision = 0}},
//                                    .puts = {{"leader", "node-1", *lease}}},
//                                   deadline);
//   if (!outcome) return outcome.error();
//   if (outcome->is_done) lead();
//
// Keys and values are text. Every change of the table has a number, its revision, larger than all
// before; an entry knows the revision that created it and the one that changed it last. A
// transaction compares those numbers and changes entries, in one step. An entry may be attached to
// a lease: it is removed when its owner has not renewed the lease in time. The model is that of
// etcd (https://etcd.io/docs/v3.4/learning/data_model/); cluster.h defines the entries of nodes and
// partitions.
//
// All of it belongs to one scheduler's thread. Calls suspend.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
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
    Revision revision = 0;            // That of the whole table.
    std::vector<Entry> entries = {};  // By key.
  };

  // A part of a table: what has changed of it since some revision.
  struct Recent {
    Revision revision = 0;            // That of the whole table.
    std::size_t entry_count = 0;      // All entries of that part of the table, changed or not.
    std::vector<Entry> entries = {};  // Those that have changed, by key.
  };

  // Holds when the chosen revision of the entry is, or is not, `revision`. An absent entry has
  // revision 0.
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

  // When all conditions hold, all puts and then all removals are applied, in one step. It has at
  // most `transaction_size_max` conditions, and as many changes, each of another key.
  struct Transaction {
    std::vector<Condition> conditions = {};
    std::vector<Put> puts = {};
    std::vector<std::string> removals = {};
  };

  struct Outcome {
    bool is_done = false;   // The conditions held.
    Revision revision = 0;  // That of the table, and when it is done that of the change.
  };

  struct Change {
    Entry entry = {};  // After a removal: the key, and in modified_at its revision.
    bool is_removed = false;
  };
  using OnChange = std::function<void(const Change& change)>;

  // The limit of etcd by default (--max-txn-ops).
  static constexpr std::size_t transaction_size_max = 128;

  virtual ~Directory() = default;

  // The lease lasts for at least `time_to_live` from when this, or keep_alive(), was called.
  //
  // All of these fail with unavailable while the directory is away, with unauthenticated or
  // permission_denied when it refuses us, and with deadline_exceeded or cancelled. The error of a
  // change that may have been made anyway says maybe_executed.
  virtual Result<Lease> grant(std::chrono::seconds time_to_live, Deadline deadline) = 0;
  // Fails with not_found when the lease has ended. No other call delays it.
  virtual Result<void> keep_alive(Lease lease, Deadline deadline) = 0;
  // Ends the lease and removes the entries attached to it. A lease that has already ended is a
  // success.
  virtual Result<void> revoke(Lease lease, Deadline deadline) = 0;

  // All entries whose keys begin with `prefix`, as of one revision that is not older than the call.
  virtual Result<Snapshot> list(std::string_view prefix, Deadline deadline) = 0;

  // The same, without the entries that have not changed after revision `since`. It does not name
  // the entries that were removed, but counts those that are there.
  virtual Result<Recent> list_since(std::string_view prefix, Revision since, Deadline deadline) = 0;

  // The entries with these keys, at most `transaction_size_max` of them, as of one revision that is
  // not older than the call. A key without an entry is left out. Also fails with invalid_argument
  // when there are too many keys.
  virtual Result<Snapshot> read(std::span<const std::string> keys, Deadline deadline) = 0;

  // Also fails with invalid_argument when the transaction is malformed, and with not_found when a
  // lease that it needs has ended: nothing is changed then.
  virtual Result<Outcome> commit(const Transaction& transaction, Deadline deadline) = 0;

  // Reports every change of those entries from revision `from` on, in order, until it fails or the
  // task is cancelled. It calls `on_change` on the caller's task or on the loop's stack, so
  // `on_change` must not suspend. Changes may be missing or late: a caller that must be right
  // reads, or commits a transaction. Fails with out_of_range when the directory has forgotten
  // changes since `from`.
  virtual Result<void> watch(std::string_view prefix, Revision from, const OnChange& on_change) = 0;

  // Whether nodes on other machines see the same table, which a cluster needs.
  virtual bool is_shared() const = 0;
  // "etcd http://10.0.0.5:2379", for people.
  virtual std::string name() const = 0;
};

}  // namespace corolane::framework
