// SPDX-License-Identifier: MIT
// The directory of a simulated cluster: a server that all nodes call as they call etcd, with its
// faults.
//
//   cluster.directory().set_condition({.has_leader = false});
//   cluster.run_for(5s);
//   cluster.directory().set_condition({});
//
// Its table is strictly serializable, and the entries of a lease vanish with it. Watches are hints:
// late, or with gaps.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/testing/random.h"
#include "framework/cluster/placement.h"
#include "framework/directory/directory.h"
#include "framework/directory/local_directory.h"
#include "framework/testing/fabric.h"
#include "framework/testing/host.h"
#include "framework/wire/partition.h"

namespace corolane::sim {

class DirectoryServer {
 public:
  // The faults of the directory at present.
  struct Condition {
    // Without a leader it answers nothing; waiting requests are served once there is one. Leases
    // still expire and watches still work: etcd is more lenient with both.
    bool has_leader = true;
    Duration slow_by_max{};          // Extra time of each request.
    Duration watch_delay_max{};      // Extra time of changes on their way to watchers.
    Duration lease_delay_max{};      // Extra time of keepalives, there or back.
    std::uint32_t late_one_in = 0;   // One in N transactions commits seconds late; 0: none.
    std::uint32_t gap_one_in = 0;    // A watch misses one in N changes; 0: none.
    std::uint32_t loses_one_in = 0;  // One in N requests gets no answer; 0: none.
  };

  // What one node has read so far, in all of its lives.
  struct Reads {
    std::uint64_t list_count = 0;     // Requests for all entries.
    std::uint64_t request_count = 0;  // All requests that read entries.
    std::uint64_t entry_count = 0;    // By requests, and by its watch.
    std::uint64_t bytes = 0;          // The size of those as answers of etcd, about.
  };

  // Both outlive the server.
  DirectoryServer(Simulation& simulation, Fabric& fabric);
  ~DirectoryServer() { host_.kill(); }
  DirectoryServer(const DirectoryServer&) = delete;
  DirectoryServer& operator=(const DirectoryServer&) = delete;

  // The directory as `node` sees it. Lives no longer than the server.
  std::shared_ptr<framework::Directory> directory_of(Host& node);

  // The epoch by which the partition is owned at this moment; 0: it never had an owner, or the
  // owner's lease has expired. May be called from anywhere. While nodes may rely on the leases of
  // a directory that was replaced, this is what it said last.
  std::uint64_t owner_of(const framework::Placement& placement,
                         framework::Partition partition) const;
  // "NAME.INCARNATION EPOCH" of the owner; empty: it never had one.
  std::string owner_name(const framework::Placement& placement,
                         framework::Partition partition) const;

  // Replaces it, between two steps, by an empty one under the same address: its revisions begin
  // anew. Nodes refuse it until operators let it take over.
  void replace();
  void accept();

  // Pins that partition of the default placement to the node of that name, or to none, between two
  // steps.
  void pin(framework::Partition partition, const std::string& node);

  Host& host() const { return host_; }
  const Reads& reads_of(const Host& node) { return reads_[node.index()]; }
  void set_condition(const Condition& condition) { condition_ = condition; }
  const Condition& condition() const { return condition_; }

 private:
  class Remote;
  struct Watching;
  friend class Remote;

  framework::Directory::Entry entry_of(const framework::Placement& placement,
                                       framework::Partition partition) const;
  void start();
  void be_slow(bool is_keepalive);
  void wait_for_leader();
  void watch(const std::shared_ptr<Watching>& watching);
  // `node` is the index of its host.
  void note_answer(std::size_t node, const std::vector<framework::Directory::Entry>& entries);
  void note_entry(std::size_t node, const framework::Directory::Entry& entry);
  bool happens(std::uint32_t one_in) { return one_in != 0 && dice_.one_in(one_in); }

  Simulation& simulation_;
  Fabric& fabric_;
  test::Random dice_;
  Condition condition_;
  Host& host_;
  bool is_accepted_ = true;
  TimePoint replaced_at_{};
  std::uint64_t generation_ = 0;
  // The last epochs of the former directory, for the default placement.
  std::array<std::uint64_t, framework::partition_count_max> former_epochs_ = {};
  std::map<std::size_t, Reads> reads_;          // By the index of the host.
  framework::LocalDirectory* table_ = nullptr;  // While the host is alive.
};

}  // namespace corolane::sim
