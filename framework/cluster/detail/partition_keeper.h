// Takes the partitions that this node is to own, and gives away those that another one is to: by
// transactions of the directory alone (steps 3, 4 and 9 of the protocol in README.md).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/cluster/cluster_view.h"
#include "framework/cluster/detail/cluster_table.h"
#include "framework/cluster/ownership.h"
#include "framework/cluster/seeded_bugs.h"
#include "framework/directory/directory.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

// The objects of this node, on all of its shards.
class Tenants {
 public:
  // Takes no more calls of the objects of those partitions: those that come wait. Lets what runs
  // end, until the deadline, and stores what has changed. Suspends. Returns those of them that are
  // not free to go: a call runs on, or a change is not stored.
  virtual std::vector<Partition> release(const Placement& placement,
                                         std::span<const Partition> partitions,
                                         Deadline deadline) = 0;
  // It is decided who owns them: those that wait look again.
  virtual void resume(const Placement& placement, std::span<const Partition> partitions) = 0;

 protected:
  ~Tenants() = default;
};

class PartitionKeeper {
 public:
  struct Options {
    // Partitions of one transaction.
    std::size_t claim_count_max = 32;
    std::size_t hand_over_count_max = 16;
    // How long the calls of a partition that moves may take to end. Those of one that did not let
    // it go have twice as long the next time, and so on up to the second figure.
    Duration release_time_min = std::chrono::milliseconds(20);
    Duration release_time_max = std::chrono::seconds(2);
    // Of partitions that move to a node that has come: a few at a time, so that nobody notices.
    Duration hand_over_interval = std::chrono::milliseconds(50);
    Duration commit_time_max = std::chrono::seconds(2);
    SeededBugs bugs = {};
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

  // Takes from the table what it says of us. Never suspends.
  void adopt();
  enum class Progress : std::uint8_t {
    all_done,
    more_to_do,  // After hand_over_interval, or at once by who is in a hurry.
    stuck,       // The directory does not answer, or an object does not let go: later.
  };

  // Does what there is to do now. Suspends.
  Progress step();

  std::size_t owned_count() const;
  // Of those that it owns: how many there is another node for.
  std::size_t to_give_count();
  std::uint64_t claimed_count() const { return claimed_count_; }
  std::uint64_t given_count() const { return given_count_; }

 private:
  // What one transaction is about: partitions that go the same way.
  struct Batch {
    const Group* group;
    std::string to;  // "NAME.INCARNATION".
    std::uint64_t to_epoch;
    std::vector<Partition> partitions;
  };
  // Who is to own what, as long as those are the members.
  struct Plan {
    std::vector<Member> members = {};
    using Targets = std::array<const Member*, partition_count>;
    std::vector<Targets> targets = {};  // By number of the group; null: nobody may.
  };
  // Partitions on their way to another node, and their epochs before.
  struct Gift {
    Batch batch;
    std::map<Partition, Directory::Revision> epochs = {};
  };
  // Of a partition that did not let go.
  struct Reluctance {
    Duration release_time;
    TimePoint not_before;
  };
  using Place = std::pair<const Group*, Partition>;

  const Plan& plan();
  std::vector<Batch> claims();
  // Those for now; `left_count` is how many are for later.
  std::vector<Batch> gifts(std::size_t& left_count);
  const Member* heir_of(const Group& group, Partition partition);
  Duration release_time_of(const Batch& batch) const;
  void note_reluctance(const Batch& batch, const std::vector<Partition>& kept);
  std::size_t number_of(const Group& group) const {
    return static_cast<std::size_t>(&group - groups_.data());
  }
  bool is_mine(const ClusterTable::Ownership& ownership) const;
  bool claim(const Batch& batch);
  bool claim_each(const Batch& batch);
  Progress hand_over(const Batch& batch);
  bool take_back(const Gift& gift);
  Result<void> look_again();
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
  std::map<Place, Reluctance> reluctant_;
  // Released, and given away or not: the directory did not tell.
  std::optional<Gift> undecided_;
  std::uint64_t claimed_count_ = 0;
  std::uint64_t given_count_ = 0;
};

}  // namespace corolane::framework::detail
