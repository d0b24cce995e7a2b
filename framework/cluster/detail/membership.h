// This process in the directory: its lease, its key, and the fence that falls when it is not heard
// of any more (steps 1, 2, 8 and 11 of the protocol in README.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/cluster/cluster_view.h"
#include "framework/cluster/ownership.h"
#include "framework/cluster/seeded_bugs.h"
#include "framework/directory/directory.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

class Membership {
 public:
  struct Options {
    std::chrono::seconds lease_time_to_live{6};
    Duration keepalive_interval = std::chrono::milliseconds(1'500);
    // After a keepalive was sent that was answered; less than the lease lives, so that nobody else
    // owns anything of ours before.
    Duration fence_after = std::chrono::milliseconds(4'500);
    // For one keepalive; the next one is sent at once when it has failed.
    Duration keepalive_time_max = std::chrono::seconds(1);
    SeededBugs bugs = {};
    // Told of each lease of a directory that others share, before anything hangs on it.
    std::function<void(Directory::Lease lease)> on_lease = {};
  };

  // All of them outlive it.
  Membership(Directory& directory, Fence& fence, Log& log, const Options& options)
      : directory_(directory), fence_(fence), log_(log), options_(options) {}
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // As a new incarnation. Suspends. Sets incarnation and epoch of `self`. Fails as the directory
  // does.
  Result<void> join(Member& self, Deadline deadline);

  // Keeps the lease until it is gone, or nothing was heard in time: then the fence has fallen, and
  // this returns why; or until the task is cancelled. Suspends.
  Error keep();

  // The directory has our key no more, whatever it says of our lease: the fence falls, and keep()
  // returns soon.
  void lose();

  // Tells the others that we give away what we have.
  Result<void> announce_draining(const Member& self, Deadline deadline);
  // Nobody waits for our lease to end. Suspends.
  void leave(Deadline deadline);

 private:
  Result<void> put_key(Member& self, Deadline deadline);
  void heard(TimePoint sent_at);

  Directory& directory_;
  Fence& fence_;
  Log& log_;
  const Options options_;
  Directory::Lease lease_ = 0;
  bool is_lost_ = false;
};

}  // namespace corolane::framework::detail
