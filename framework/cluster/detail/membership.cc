#include "framework/cluster/detail/membership.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "coroutine/task.h"
#include "framework/cluster/detail/cluster_table.h"
#include "net/crypto.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds without_end = std::chrono::years(100);

// Between keepalives that fail: a directory that refuses at once is not asked without end.
constexpr Duration rejoin_interval = 100ms;

std::string random_incarnation() {
  std::array<std::byte, 6> bytes{};
  net::fill_with_random_bytes(bytes);
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[static_cast<std::size_t>(byte >> 4)];
    text += digits[static_cast<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace

Result<void> Membership::join(Member& self, Deadline deadline) {
  is_lost_ = false;
  const TimePoint sent_at = fence_.clock_now();
  // Without other nodes there is nobody who waits for its end.
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
  if (!put->is_done) return Error(Code::already_exists, "the directory has a " + key);
  self.epoch = put->revision;
  return {};
}

// A late answer extends from when its question was sent, and takes nothing back.
void Membership::heard(TimePoint sent_at) {
  if (is_lost_) return;
  if (!directory_.is_shared()) return fence_.set(TimePoint::max());
  if (options_.bugs.keepalive_time_at_answer) sent_at = fence_.clock_now();
  fence_.set(std::max(fence_.at(), sent_at + options_.fence_after));
  // As object_host.cc logs replies.
  log_.debug("lease kept", {{"at", sent_at.time_since_epoch().count()}});
}

Error Membership::keep() {
  Duration pause = directory_.is_shared() ? options_.keepalive_interval : Duration::max();
  for (;;) {
    if (auto slept = coroutine::sleep_for(std::min(pause, fence_.time_left())); !slept) {
      return slept.error();
    }
    if (is_lost_) return Error(Code::not_found, "somebody has removed this node's key");
    if (!fence_.is_in_time()) {
      return Error(Code::unavailable, "the directory was silent for too long");
    }
    // Read before it is sent, so that the lease lives longer than the fence, however slow it is.
    const TimePoint sent_at = fence_.clock_now();
    auto kept = directory_.keep_alive(
        lease_, Deadline::after(std::min(options_.keepalive_time_max, fence_.time_left())));
    if (kept) {
      heard(sent_at);
      pause = std::max(options_.keepalive_interval - (fence_.clock_now() - sent_at), 0ns);
      continue;
    }
    if (kept.error().code() == Code::not_found) {
      fence_.set(TimePoint::min());
      return kept.error();
    }
    if (kept.error().code() == Code::cancelled) return kept.error();
    pause = rejoin_interval;
  }
}

void Membership::lose() {
  is_lost_ = true;
  fence_.set(TimePoint::min());
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
  fence_.set(TimePoint::min());
  if (lease_ != 0) static_cast<void>(directory_.revoke(lease_, deadline));
  lease_ = 0;
}

}  // namespace corolane::framework::detail
