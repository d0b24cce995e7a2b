// The directory of a simulated cluster: a server that all nodes ask, as they ask an etcd; and what
// goes wrong with one.
//
// Its table is strictly serializable, and what hangs on a lease goes with it.
// Watches are hints: late, or with gaps.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

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
  // How it is at present.
  struct Condition {
    // Without a leader it answers nothing, and what waits is done when there is one. Leases end all
    // the same, and watches go on: an etcd is more patient with both.
    bool has_leader = true;
    Duration slow_by_max{};          // Each request takes up to so much longer.
    Duration watch_delay_max{};      // And so do changes on their way to who watches.
    Duration lease_delay_max{};      // And so do the keepalives of leases, there or back.
    std::uint32_t late_one_in = 0;   // Of so many transactions one is made seconds later; 0: none.
    std::uint32_t gap_one_in = 0;    // Of so many changes a watch misses one; 0: none.
    std::uint32_t loses_one_in = 0;  // Of so many requests it answers one not at all; 0: none.
  };

  // All of them outlive it.
  DirectoryServer(Simulation& simulation, Fabric& fabric);
  ~DirectoryServer() { host_.kill(); }
  DirectoryServer(const DirectoryServer&) = delete;
  DirectoryServer& operator=(const DirectoryServer&) = delete;

  // How a node sees it. Lives no longer than the server.
  std::shared_ptr<framework::Directory> directory_of(Host& node);

  // By its revision, who owns that partition at this moment; 0: nobody ever did, or their lease has
  // ended. From anywhere.
  framework::Directory::Revision owner_of(const framework::Placement& placement,
                                          framework::Partition partition) const;
  // "NAME.INCARNATION EPOCH"; empty: nobody ever did.
  std::string owner_name(const framework::Placement& placement,
                         framework::Partition partition) const;

  Host& host() const { return host_; }
  void set_condition(const Condition& condition) { condition_ = condition; }
  const Condition& condition() const { return condition_; }

 private:
  class Remote;
  struct Watching;
  friend class Remote;

  framework::Directory::Entry entry_of(const framework::Placement& placement,
                                       framework::Partition partition) const;
  void be_slow(bool is_keepalive);
  void wait_for_leader();
  void watch(const std::shared_ptr<Watching>& watching);
  bool happens(std::uint32_t one_in) { return one_in != 0 && dice_.one_in(one_in); }

  Simulation& simulation_;
  Fabric& fabric_;
  test::Random dice_;
  Condition condition_;
  Host& host_;
  framework::LocalDirectory* table_ = nullptr;  // While the host is alive.
};

}  // namespace corolane::sim
