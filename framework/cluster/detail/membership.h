// SPDX-License-Identifier: MIT
// This process in the directory: its lease, its key, and the fence that falls when the lease cannot
// be renewed (steps 1, 2, 8 and 11 of the protocol in README.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/cluster/cluster_view.h"
#include "framework/cluster/ownership.h"
#include "framework/directory/directory.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

// How long a shard's loop has not turned.
struct ShardSilence {
  std::size_t shard = 0;
  Duration time{};
};

class Membership {
 public:
  struct Options {
    std::chrono::seconds lease_time_to_live{6};
    Duration keepalive_interval = std::chrono::milliseconds(1'500);
    // Counted from the sending of the last answered keepalive. It is shorter than the lease, so the
    // fence falls before another node can own our partitions.
    Duration fence_after = std::chrono::milliseconds(4'500);
    // The timeout of one keepalive; after a failure the next one follows soon.
    Duration keepalive_time_max = std::chrono::seconds(1);
    // No keepalive is sent while a shard is silent for longer than this, so the fence falls and
    // other nodes take over: a lease is for the whole node, also for the partitions of a shard that
    // hangs. Longer than any stall that ends by itself, and shorter than fence_after.
    Duration shard_silence_max = std::chrono::seconds(3);
    // A node that the directory does not answer goes on, and the store proves what it says.
    bool serves_without_directory = false;
    // The silence of the shard that is silent for longest. Empty: none is apart from this thread.
    std::function<ShardSilence()> longest_silence = {};
    // Called with each lease of a shared directory, before any key is attached to it.
    std::function<void(Directory::Lease lease)> on_lease = {};
  };

  // All of them outlive it.
  Membership(Directory& directory, Fence& fence, Log& log, const Options& options)
      : directory_(directory), fence_(fence), log_(log), options_(options) {}
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // Joins as a new incarnation; sets incarnation and epoch of `self`. Suspends. Fails as the
  // directory does.
  Result<void> join(Member& self, Deadline deadline);

  // Fails with failed_precondition when another directory answers, or an earlier state of this one.
  using CheckDirectory = std::function<Result<void>(Deadline deadline)>;

  // Renews the lease until it is lost, the directory was silent for too long, or the task is
  // cancelled. In the first two cases the fence has fallen. Returns the reason. Suspends. A lease
  // that had ended by this node's clock is valid again only when `check` succeeds: a directory that
  // was restored knows leases whose partitions other nodes own by now.
  Error keep(const CheckDirectory& check);

  // Our key is gone from the directory, even if the lease still lives: the fence falls, and keep()
  // returns soon.
  void lose();

  // Announces to the other nodes that we give our partitions away.
  Result<void> announce_draining(const Member& self, Deadline deadline);
  // Revokes the lease, so no node waits for it to expire. The node has dropped what it owned.
  // Suspends.
  void leave(Deadline deadline);

 private:
  Result<void> put_key(Member& self, Deadline deadline);
  void heard(TimePoint sent_at);
  void serve_on();
  bool all_shards_turn();
  Error reason_of_silence() const;

  Directory& directory_;
  Fence& fence_;
  Log& log_;
  const Options options_;
  Directory::Lease lease_ = 0;
  bool is_lost_ = false;
  bool is_on_its_own_ = false;               // It serves without a lease.
  std::optional<std::size_t> silent_shard_;  // That keeps the keepalives back.
};

}  // namespace corolane::framework::detail
