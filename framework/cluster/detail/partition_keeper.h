// SPDX-License-Identifier: MIT
// Claims the partitions that this node should own and hands over those that another node should
// own, only by transactions of the directory (steps 3, 4 and 9 of the protocol in README.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/cluster/cluster_view.h"
#include "framework/cluster/detail/cluster_table.h"
#include "framework/cluster/ownership.h"
#include "framework/directory/directory.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

// The objects of this node, on all of its shards.
class Tenants {
 public:
  // Releases partitions: new calls of their objects wait, running calls may end until the deadline,
  // and changes are stored. Suspends. Returns the partitions that cannot move: a call still runs,
  // or a change is not stored.
  virtual std::vector<Partition> release(const Placement& placement,
                                         std::span<const Partition> partitions,
                                         Deadline deadline) = 0;
  // The owner of these partitions is decided: waiting calls check again.
  virtual void resume(const Placement& placement, std::span<const Partition> partitions) = 0;

 protected:
  ~Tenants() = default;
};

class PartitionKeeper {
 public:
  struct Options {
    // Per transaction, of 1,024 partitions; of more as many more, as far as a transaction has room.
    std::size_t claim_count_max = 32;
    std::size_t hand_over_count_max = 16;
    // The time in which the calls of a moving partition may end. It doubles after each failed
    // release, up to the maximum.
    Duration release_time_min = std::chrono::milliseconds(20);
    Duration release_time_max = std::chrono::seconds(2);
    // The pause between hand-overs to a new node: partitions move a few at a time, unnoticed by
    // clients.
    Duration hand_over_interval = std::chrono::milliseconds(50);
    Duration commit_time_max = std::chrono::seconds(2);
  };

  struct Group {
    Placement placement;
    Ownership* ownership;
  };

  // All of them outlive it. `self` has joined.
  PartitionKeeper(Directory& directory, ClusterTable& table, const Member& self,
                  std::vector<Group> groups, Tenants& tenants, Log& log, const Options& options);
  PartitionKeeper(const PartitionKeeper&) = delete;
  PartitionKeeper& operator=(const PartitionKeeper&) = delete;

  // Updates our ownerships from the table. Never suspends.
  void adopt();
  enum class Progress : std::uint8_t {
    all_done,
    more_to_do,  // Continue after hand_over_interval, or at once when draining.
    stuck,       // Retry later: the directory fails, or a call does not end.
  };

  // The next two run at the same time, each in a task of its own: a hand-over waits for hooks of
  // objects, and a partition of a node that is gone must not wait for those. A partition on its way
  // to another node is not claimed before its hand-over is decided.

  // Claims what is due. Returns false when some is left to be tried again. Suspends.
  bool claim_due();
  // Decides a hand-over with an unknown outcome, or hands over one batch. Suspends.
  Progress give_due();

  std::size_t owned_count() const;
  // The number of owned partitions that another node should own.
  std::size_t to_give_count();
  std::uint64_t claimed_count() const { return claimed_count_; }
  std::uint64_t given_count() const { return given_count_; }

 private:
  // The partitions of one transaction, with the same new owner.
  struct Batch {
    const Group* group;
    std::string to;  // "NAME.INCARNATION".
    std::uint64_t to_epoch;
    std::vector<Partition> partitions;
  };
  // The target owners while these are the members and the pins.
  struct Plan {
    std::optional<std::uint64_t> change_count = {};  // That of the table; none: no plan yet.
    std::vector<Member> members = {};
    std::vector<std::uint64_t> epochs = {};  // Theirs, sorted.
    // By group and partition; null: no node may own it.
    std::vector<std::vector<const Member*>> targets = {};
  };
  // Partitions on their way to another node, and their former epochs.
  struct Gift {
    Batch batch;
    std::map<Partition, Directory::Revision> revisions = {};
  };
  // The back-off of a partition whose release failed.
  struct Reluctance {
    Duration release_time;
    TimePoint not_before;
  };
  using Place = std::pair<const Group*, Partition>;

  void adopt(const Group& group, Partition partition);
  const Plan& plan();
  std::vector<Batch> claims();
  // Returns the batches that are due; `left_count` is the number of partitions left for later.
  std::vector<Batch> gifts(std::size_t& left_count);
  const Member* heir_of(const Group& group, Partition partition);
  bool moves(const Group& group, Partition partition) const {
    return moving_.contains({&group, partition});
  }
  void let_move(const Batch& batch);
  void end_move(const Batch& batch);
  Duration release_time_of(const Batch& batch) const;
  void note_reluctance(const Batch& batch, const std::vector<Partition>& kept);
  std::size_t number_of(const Group& group) const {
    return static_cast<std::size_t>(&group - groups_.data());
  }
  bool is_mine(const ClusterTable::Ownership& ownership) const;
  bool claim(const Batch& batch);
  bool claim_rest(const Batch& batch);
  Progress hand_over(const Batch& batch);
  bool take_back(const Gift& gift);
  Result<void> look_again(const Batch& batch);
  static Directory::Put put_owner(const Batch& batch, Partition partition);
  void note_owner(const Batch& batch, const Directory::Outcome& outcome);

  Directory& directory_;
  ClusterTable& table_;
  const Member& self_;
  const std::string name_;  // "NAME.INCARNATION".
  const std::vector<Group> groups_;
  Tenants& tenants_;
  Log& log_;
  const Options options_;
  Plan plan_;
  std::optional<std::uint64_t> adopted_change_count_;  // whole_change_count() then; none at first.
  std::map<Place, Reluctance> reluctant_;
  // The partitions of the hand-over that is under way or undecided: their calls wait, and only
  // give_due() may decide whose they are.
  std::set<Place> moving_;
  // Released partitions whose hand-over has an unknown outcome.
  std::optional<Gift> undecided_;
  std::uint64_t claimed_count_ = 0;
  std::uint64_t given_count_ = 0;
};

}  // namespace corolane::framework::detail
