// SPDX-License-Identifier: MIT
// This node's place in the cluster: it joins, owns its share of the partitions, hands over those
// that belong to other nodes, and knows who owns the rest.
//
//   Cluster cluster(directory, fence, self, groups, tenants, log, {});
//   if (auto joined = cluster.start(deadline); !joined) return joined.error();
//   ...
//   auto drained = cluster.drain(deadline, [](std::size_t left) { show(left); });
//   cluster.stop(deadline);
//
// The store (store.h) makes it safe. The directory makes it live, and lets an owner answer from
// memory as long as it keeps its lease there. A node whose lease expires stops serving before
// another node owns its partitions, drops its objects, and joins again as a new incarnation.
// README.md has the protocol.
//
// All of it belongs to one scheduler's thread: that of the node.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/cluster/cluster_view.h"
#include "framework/cluster/detail/cluster_table.h"
#include "framework/cluster/detail/doubts.h"
#include "framework/cluster/detail/membership.h"
#include "framework/cluster/detail/partition_keeper.h"
#include "framework/cluster/detail/rejoin_pause.h"
#include "framework/cluster/ownership.h"
#include "framework/directory/directory.h"
#include "framework/telemetry/log.h"
#include "framework/wire/directory_mark.h"

namespace corolane::framework {

class Cluster : private detail::Tenants {
 public:
  struct Options {
    detail::Membership::Options membership = {};
    detail::PartitionKeeper::Options partitions = {};
    detail::RejoinPause::Options rejoin = {};
    detail::Doubts::Options doubts = {};
    // The shortest time between two reads of partitions in doubt: those of one node that is away
    // are read together.
    Duration look_up_interval_min = std::chrono::milliseconds(100);
    // The directory may lose a notification (etcd's watches), so what has changed is read again at
    // this interval.
    Duration resync_interval = std::chrono::seconds(30);
    // Nodes and pins are compared more often: a node that is taken for alive keeps this node from
    // claiming its partitions, and so does a pin that is gone. Calls cannot tell, since they wait
    // on other nodes.
    Duration placement_check_interval = std::chrono::seconds(5);
    // The shortest time between two such reads, and the pause between attempts to reach a directory
    // that is away.
    Duration retry_interval = std::chrono::milliseconds(250);
  };

  // The shards of this node.
  class Tenants : public detail::Tenants {
   public:
    // The node has lost everything that it owned, so all it knows of its objects is void. Suspends
    // until all of them are dropped.
    virtual void drop_all() = 0;
    // Called before each join and now and then, with what the directory is at that moment.
    // Suspends. Returns the latest mark of this directory that any node has told. Fails with
    // failed_precondition when another directory has decided on the owners so far: then the node
    // stays out of the cluster, or leaves it, and asks again.
    virtual Result<DirectoryMark> admit(const DirectoryMark& mark, Deadline) { return mark; }
    // The error when `mark` is behind what was noted: the directory was set back.
    virtual Error refuse(const DirectoryMark& mark, const DirectoryMark& noted) const;
    virtual void view_changed(const std::shared_ptr<const ClusterView>& view) = 0;

   protected:
    ~Tenants() = default;
  };

  struct Statistics {
    std::uint64_t join_count = 0;
    std::uint64_t fence_count = 0;
    std::uint64_t claimed_count = 0;
    std::uint64_t given_count = 0;
    std::uint64_t resync_count = 0;   // Looks at the whole directory.
    std::uint64_t look_up_count = 0;  // Reads of partitions in doubt.
    std::uint64_t refusal_count = 0;  // Joins that admit() has refused.
    std::size_t owned_count = 0;
  };

  // All arguments by reference outlive the cluster.
  Cluster(Directory& directory, Fence& fence, Member self,
          std::vector<detail::PartitionKeeper::Group> groups, Tenants& tenants, Log& log,
          const Options& options);
  virtual ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Joins, and runs in tasks of its own from then on. Suspends until the node is in the table.
  // Fails as the directory does.
  Result<void> start(Deadline deadline);

  // Suspends until nothing is left for this node to claim: each partition has an owner.
  Result<void> wait_until_settled(Deadline deadline);

  // Hands over what the node owns, as long as another node can take it. Suspends until all is
  // handed over; calls `on_progress` with the number of partitions that are left. Fails with
  // deadline_exceeded.
  Result<void> drain(Deadline deadline, const std::function<void(std::size_t left)>& on_progress);

  // Leaves at once. Suspends until its tasks have ended and the directory is notified, or until the
  // deadline.
  void stop(Deadline deadline);

  // Reads the owner of that partition again soon: a caller has seen that the view is stale. All
  // doubts of one partition share a read, and further reads come later and later, until its owner
  // changes.
  void doubt(const Placement& placement, Partition partition);

  // Puts the partition on the node of that pin, or where placement wants it: the nodes hand it over
  // from then on. Suspends. Fails as the directory does, and with failed_precondition while this
  // node is not in the cluster.
  Result<void> pin(const Placement& placement, Partition partition, const std::optional<Pin>& pin,
                   Deadline deadline);

  // A later owner has sealed an object of ours, so our key is gone: the node drops all that it
  // owned, and joins again.
  void lose();

  // The key of the directory entry that names the owner of that partition. The value begins with
  // the name of the node and a dot; the entry's last revision is the epoch of the ownership.
  static std::string owner_key(const Placement& placement, Partition partition) {
    return detail::ClusterTable::partition_key(placement, partition);
  }

  // The key of the entry that pins that partition, and its value.
  static std::string pin_key(const Placement& placement, Partition partition) {
    return detail::ClusterTable::pin_key(placement, partition);
  }
  static std::string pin_value(const Pin& pin) { return detail::ClusterTable::to_value(pin); }

  // The key of the entry by which operators let a replaced directory take over.
  static std::string generation_key() { return detail::ClusterTable::generation_key(); }

  const std::shared_ptr<const ClusterView>& view() const { return view_; }
  const Member& self() const { return self_; }
  // The epoch of this node in the view.
  std::uint64_t epoch() const { return DirectoryMark::epoch(table_.generation(), self_.epoch); }
  Statistics statistics() const;

 private:
  std::vector<Partition> release(const Placement& placement, std::span<const Partition> partitions,
                                 Deadline deadline) override {
    return tenants_.release(placement, partitions, deadline);
  }
  void resume(const Placement& placement, std::span<const Partition> partitions) override;
  void publish();
  void run();
  Result<void> admit(Deadline deadline);
  Result<void> check_is_admitted(Deadline deadline);
  Result<void> begin(Deadline deadline);
  bool begin_again();
  Result<void> read_table(Deadline deadline);
  void check_directory();
  void note_table();
  void fence(const Error& reason);
  Result<void> wait_to_rejoin();
  void follow();
  void resync();
  void check_placement();
  void look_up();
  void claim_partitions();
  void give_partitions();
  Result<void> read_all();
  Result<void> read_recent();
  Result<void> check_identity(Deadline deadline);
  Result<void> check_fits_others(Deadline deadline);
  Result<void> check_fits_earlier() const;
  void was_replaced();
  detail::Doubts::Known known_of(const detail::Doubts::Place& place) const;
  void changed();

  Directory& directory_;
  Fence& fence_;
  Member self_;
  const std::vector<detail::PartitionKeeper::Group> groups_;
  Tenants& tenants_;
  Log& log_;
  const Options options_;
  detail::Membership membership_;
  detail::RejoinPause rejoin_pause_;
  detail::ClusterTable table_;
  std::unique_ptr<detail::PartitionKeeper> keeper_;  // That of this incarnation.
  DirectoryMark known_;  // The directory, at the latest revision that this process has seen.
  bool is_known_noted_ = false;  // By the store.
  std::shared_ptr<const ClusterView> view_;
  std::uint64_t viewed_change_count_ = 0;  // The changes of the table that the view has.
  // Those that the keeper of this incarnation has adopted; nothing: none.
  std::optional<std::uint64_t> adopted_change_count_;
  Directory::Revision checked_to_ = 0;  // All changes up to it are known, but for removals.
  detail::Doubts doubts_;
  // Set when the cluster has changed.
  coroutine::Event claims_due_{"partitions to claim"};
  coroutine::Event gifts_due_{"partitions to hand over"};
  coroutine::Event look_again_{"a gap in what the directory tells"};
  coroutine::Event doubted_{"doubt about the owner of a partition"};
  coroutine::Event settled_{"owners of all partitions"};
  bool is_draining_ = false;
  Statistics statistics_;
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework
