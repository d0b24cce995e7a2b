// SPDX-License-Identifier: MIT
// A directory in the memory of one process: for a node without a cluster, and for tests, where the
// nodes of one thread share it.
//
//   LocalDirectory directory(/*first_revision=*/epoch_max);
//
// It begins empty in each process, but the store knows revisions of earlier processes. So the
// revisions begin above a given number.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/sync/event.h"
#include "framework/directory/directory.h"

namespace corolane::framework {

class LocalDirectory final : public Directory {
 public:
  struct Options {
    // The changes that watch() still knows: more than a watcher misses while it lists a table of
    // 1,024 partitions.
    std::size_t history_count_max = 4'096;
  };

  // The first change has the revision `first_revision` + 1.
  explicit LocalDirectory(Revision first_revision) : LocalDirectory(first_revision, Options{}) {}
  LocalDirectory(Revision first_revision, Options options);
  // No watch() may be in progress. Leases end without notice.
  ~LocalDirectory() override;
  LocalDirectory(const LocalDirectory&) = delete;
  LocalDirectory& operator=(const LocalDirectory&) = delete;

  // None of these suspends, so deadlines are ignored. Leases expire by the scheduler's clock.
  Result<Lease> grant(std::chrono::seconds time_to_live, Deadline deadline) override;
  Result<void> keep_alive(Lease lease, Deadline deadline) override;
  Result<void> revoke(Lease lease, Deadline deadline) override;
  Result<Snapshot> list(std::string_view prefix, Deadline deadline) override;
  Result<Recent> list_since(std::string_view prefix, Revision since, Deadline deadline) override;
  Result<Snapshot> read(std::span<const std::string> keys, Deadline deadline) override;
  Result<Outcome> commit(const Transaction& transaction, Deadline deadline) override;

  // Suspends. Calls on_change in the caller's task.
  Result<void> watch(std::string_view prefix, Revision from, const OnChange& on_change) override;

  bool is_shared() const override { return false; }
  std::string name() const override { return "local"; }

  // The entry of that key; nothing when there is none. Never suspends.
  std::optional<Entry> find(std::string_view key) const;

 private:
  struct Held;  // A lease.
  struct Row {
    std::string value;
    Revision created_at = 0;
    Revision modified_at = 0;
    Lease lease = 0;
  };
  using Rows = std::map<std::string, Row, std::less<>>;

  static Entry entry_of(const Rows::value_type& row);
  bool holds(const Condition& condition) const;
  // These record a change with that revision.
  void put(const Put& put, Revision revision);
  void remove(Rows::iterator row, Revision revision);
  void finish_change(Revision revision);
  void end(Lease lease);
  std::vector<Change> changes_since(std::string_view prefix, Revision from) const;

  const Options options_;
  Rows rows_;
  std::map<Lease, std::unique_ptr<Held>> leases_;
  Lease last_lease_ = 0;
  Revision revision_;
  std::deque<Change> history_;  // By revision.
  Revision forgotten_;          // The history may lack changes up to this revision.
  coroutine::Event changed_{"a change of the directory"};
};

}  // namespace corolane::framework
