// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/membership.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "coroutine/base/encoding.h"
#include "coroutine/task.h"
#include "framework/cluster/detail/cluster_table.h"
#include "framework/cluster/detail/seeded_bugs.h"
#include "net/crypto.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds without_end = std::chrono::years(100);

// The pause after a keepalive that failed or was not sent: keeps a directory that refuses at once
// from being asked in a busy loop.
constexpr Duration rejoin_interval = 100ms;

std::string random_incarnation() {
  std::array<std::byte, 6> bytes{};
  net::fill_with_random_bytes(bytes);
  return to_hex(bytes);
}

}  // namespace

Result<void> Membership::join(Member& self, Deadline deadline) {
  is_lost_ = is_on_its_own_ = false;
  silent_shard_.reset();
  const TimePoint sent_at = fence_.clock_now();
  // Without other nodes nothing waits for the lease to expire.
  auto lease = directory_.grant(directory_.is_shared() ? options_.lease_time_to_live : without_end,
                                deadline);
  if (!lease) return lease.error();
  lease_ = *lease;
  if (options_.on_lease && directory_.is_shared()) options_.on_lease(lease_);
  self.incarnation = random_incarnation();
  if (auto put = put_key(self, deadline); !put) {
    leave(deadline);
    return put;
  }
  heard(sent_at);
  return {};
}

Result<void> Membership::put_key(Member& self, Deadline deadline) {
  const std::string key = ClusterTable::node_key(ClusterTable::name_of(self));
  auto put = directory_.commit(
      {.conditions = {{.key = key,
                       .field = Directory::Condition::Field::created_at,
                       .revision = 0}},
       .puts = {{.key = key, .value = ClusterTable::to_value(self), .lease = lease_}}},
      deadline);
  if (!put) return put.error();
  if (!put->is_done) return Error(Code::already_exists, "the directory already has the key " + key);
  self.epoch = put->revision;
  return {};
}

// A late answer extends the fence from the time of its request, and never shortens it.
void Membership::heard(TimePoint sent_at) {
  if (is_lost_) return;
  if (!directory_.is_shared()) return fence_.set(TimePoint::max());
  if (COROLANE_SEEDED_BUG(keepalive_time_at_answer)) sent_at = fence_.clock_now();
  fence_.extend_lease(sent_at + options_.fence_after);
  if (is_on_its_own_ && fence_.has_lease()) {
    is_on_its_own_ = false;
    log_.info("the directory answers again, and the lease is valid");
  }
  // The same clock as the log lines of replies in object_host.cc.
  log_.debug("lease kept", {{"at", sent_at.time_since_epoch().count()}});
}

// Only while all shards turn, as a lease.
void Membership::serve_on() {
  if (!options_.serves_without_directory || !directory_.is_shared()) return;
  fence_.serve_until(fence_.clock_now() + options_.fence_after);
  if (fence_.has_lease() || is_on_its_own_) return;
  is_on_its_own_ = true;
  log_.warning("the directory does not answer: the store proves each reply until it does");
}

Error Membership::keep(const CheckDirectory& check) {
  Duration pause = directory_.is_shared() ? options_.keepalive_interval : Duration::max();
  for (;;) {
    if (auto slept = coroutine::sleep_for(std::min(pause, fence_.time_left())); !slept) {
      return slept.error();
    }
    if (is_lost_) return Error(Code::not_found, "this node's key was removed from the directory");
    if (!fence_.is_in_time()) return reason_of_silence();
    if (!all_shards_turn()) {
      pause = rejoin_interval;
      continue;
    }
    serve_on();
    // Read before the request is sent: the lease then outlives the fence, however slow the request
    // is.
    const TimePoint sent_at = fence_.clock_now();
    // One that serves on without an answer turns back in time to do so.
    const Duration left = fence_.time_left() / (options_.serves_without_directory ? 2 : 1);
    const Deadline deadline = Deadline::after(std::min(options_.keepalive_time_max, left));
    auto kept = directory_.keep_alive(lease_, deadline);
    if (kept && directory_.is_shared() && !fence_.has_lease()) kept = check(deadline);
    if (kept) {
      heard(sent_at);
      pause = std::max(options_.keepalive_interval - (fence_.clock_now() - sent_at), 0ns);
      continue;
    }
    const Code code = kept.error().code();
    if (code == Code::not_found || code == Code::failed_precondition) {
      fence_.fall();
      return kept.error();
    }
    if (code == Code::cancelled) return kept.error();
    pause = rejoin_interval;
  }
}

// Logs each change once.
bool Membership::all_shards_turn() {
  if (!options_.longest_silence) return true;
  const ShardSilence longest = options_.longest_silence();
  const bool is_silent = longest.time > options_.shard_silence_max;
  if (is_silent && !silent_shard_) {
    log_.error("a shard hangs: the node gives its partitions up unless it turns again soon",
               {{"shard", longest.shard}, {"silent_for", longest.time}});
    silent_shard_ = longest.shard;
  } else if (!is_silent && silent_shard_) {
    log_.warning("a shard that hung turns again", {{"shard", *silent_shard_}});
    silent_shard_.reset();
  }
  return !is_silent;
}

Error Membership::reason_of_silence() const {
  if (!silent_shard_) {
    return Error(Code::unavailable, "the directory did not answer for too long");
  }
  return Error(Code::unavailable, "shard " + std::to_string(*silent_shard_) + " hangs");
}

void Membership::lose() {
  is_lost_ = true;
  fence_.fall();
}

Result<void> Membership::announce_draining(const Member& self, Deadline deadline) {
  auto put =
      directory_.commit({.puts = {{.key = ClusterTable::draining_key(ClusterTable::name_of(self)),
                                   .value = "",
                                   .lease = lease_}}},
                        deadline);
  if (!put) return put.error();
  return {};
}

void Membership::leave(Deadline deadline) {
  fence_.rest();
  if (lease_ != 0) static_cast<void>(directory_.revoke(lease_, deadline));
  lease_ = 0;
}

}  // namespace corolane::framework::detail
