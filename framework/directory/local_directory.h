// A directory in the memory of one process: of a node that is alone, and of tests, where the nodes
// of one thread share it.
//
//   LocalDirectory directory(/*first_revision=*/store.epoch_max());
//
// It begins empty with each process, and what outlives the process knows revisions of an earlier
// one. So they begin above a given number.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/sync/event.h"
#include "framework/directory/directory.h"

namespace corolane::framework {

class LocalDirectory final : public Directory {
 public:
  struct Options {
    // Changes that watch() still knows: more than a watcher misses while it lists all of a table of
    // 1,024 partitions.
    std::size_t history_count_max = 4'096;
  };

  // The first change has the number above `first_revision`.
  explicit LocalDirectory(Revision first_revision) : LocalDirectory(first_revision, Options{}) {}
  LocalDirectory(Revision first_revision, Options options);
  // Nobody may be inside of watch(). Leases end without a word.
  ~LocalDirectory() override;
  LocalDirectory(const LocalDirectory&) = delete;
  LocalDirectory& operator=(const LocalDirectory&) = delete;

  // None of them suspends, so no deadline passes. A lease ends by the scheduler's clock.
  Result<Lease> grant(std::chrono::seconds time_to_live, Deadline deadline) override;
  Result<void> keep_alive(Lease lease, Deadline deadline) override;
  Result<void> revoke(Lease lease, Deadline deadline) override;
  Result<Snapshot> list(std::string_view prefix, Deadline deadline) override;
  Result<Outcome> commit(const Transaction& transaction, Deadline deadline) override;

  // Suspends. Tells of changes on the caller's task.
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

  bool holds(const Condition& condition) const;
  // These make a change of that number.
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
  Revision forgotten_;          // What was changed up to there is not all in the history.
  coroutine::Event changed_{"a change of the directory"};
};

}  // namespace corolane::framework
