// SPDX-License-Identifier: MIT
#include "framework/node/detail/node_tenants.h"

#include <chrono>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "framework/edge/detail/session_exchange.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/object_router.h"

namespace corolane::framework::detail {
namespace {

// A former directory may have leases that are valid for so long.
constexpr Duration former_lease_time = std::chrono::seconds(6);

// Between attempts to drop the objects of a fenced node.
constexpr Duration drop_interval = std::chrono::milliseconds(10);

std::string text_of(const DirectoryMark& mark) {
  return mark.id + " at revision " + std::to_string(mark.revision) + ", generation " +
         std::to_string(mark.generation);
}

}  // namespace

// The store knows which directory has decided so far. Owners by another one could have the epochs
// of owners that still serve.
Result<DirectoryMark> NodeTenants::admit(const DirectoryMark& mark, Deadline deadline) {
  const auto is_same = [&mark](const DirectoryMark& noted) {
    return noted.id == mark.id && noted.generation == mark.generation;
  };
  auto noted = note(mark, /*may_replace=*/false, deadline);
  if (!noted) return noted;
  if (is_same(*noted)) {
    former_gone_at_ = {};
    return noted;
  }
  // The former directory is gone since now at the latest.
  if (former_gone_at_ == TimePoint{} || former_generation_ != noted->generation) {
    former_gone_at_ = now();
    former_generation_ = noted->generation;
  }
  if (mark.generation <= noted->generation) return refuse(mark, *noted);
  log_.warning("operators have replaced the directory",
               {{"former", text_of(*noted)}, {"now", text_of(mark)}});
  const Deadline no_lease_is_left = Deadline::at(former_gone_at_ + former_lease_time);
  if (auto slept = coroutine::sleep_until(no_lease_is_left); !slept) return slept.error();
  noted = note(mark, /*may_replace=*/true, Deadline::after(std::chrono::seconds(5)));
  if (!noted || is_same(*noted)) return noted;
  return refuse(mark, *noted);
}

// By the first shard, whose connection to the store this is; one that hangs is not awaited. Returns
// the mark itself when no other node uses the store.
Result<DirectoryMark> NodeTenants::note(const DirectoryMark& mark, bool may_replace,
                                        Deadline deadline) {
  const auto noted = std::make_shared<Result<DirectoryMark>>(mark);
  NoteOptions options{.may_replace = may_replace};
  // All types have the same store.
  if (!ownerships_.empty()) {
    options.partition_count = ownerships_.begin()->second->partition_count();
  }
  auto asked = shards_.ask(
      0,
      [noted, mark, options, deadline](Shard& shard) -> Result<void> {
        Store* const store = shard.store();
        if (store == nullptr || !store->is_shared()) return {};
        *noted = store->note_directory(mark, options, deadline);
        return {};
      },
      deadline);
  if (!asked) return asked.error();
  return *noted;
}

Error NodeTenants::refuse(const DirectoryMark& mark, const DirectoryMark& noted) const {
  return Error(Code::failed_precondition,
               "the directory was replaced or set back: it is " + text_of(mark) +
                   ", and the owners of these objects were decided by " + text_of(noted) +
                   ". When no node runs with that one any more, let this one take over: etcdctl "
                   "put " +
                   prefix_ + "generation " + std::to_string(noted.generation + 1));
}

std::vector<Partition> NodeTenants::release(const Placement& placement,
                                            std::span<const Partition> partitions,
                                            Deadline deadline) {
  const Ownership& ownership = *ownerships_.at(placement);
  std::vector<std::vector<Partition>> kept_by_shard(shards_.count());
  const auto released = shards_.on_each([&](Shard& shard) -> Result<void> {
    if (shard.host() == nullptr) return {};
    kept_by_shard[shard.index()] = shard.host()->release(ownership, partitions, deadline);
    return {};
  });
  // The failed shard is unknown, so all partitions count as kept.
  if (!released) return {partitions.begin(), partitions.end()};
  std::vector<Partition> kept;
  for (const auto& of_shard : kept_by_shard)
    kept.insert(kept.end(), of_shard.begin(), of_shard.end());
  return kept;
}

void NodeTenants::resume(const Placement& placement, std::span<const Partition> partitions) {
  const Ownership& ownership = *ownerships_.at(placement);
  shards_.post(
      [&ownership, those = std::vector(partitions.begin(), partitions.end())](Shard& shard) {
        if (shard.host() != nullptr) shard.host()->resume(ownership, those);
      });
}

void NodeTenants::drop_all() {
  const auto drop = [](Shard& shard) -> Result<void> {
    if (shard.host() != nullptr) shard.host()->drop_all();
    return {};
  };
  // A shard may have no stack left for it. The caller rejoins the cluster afterwards, so it waits;
  // the fence watchdog ends a process that waits for too long.
  for (;;) {
    const auto dropped = shards_.on_each(drop);
    if (dropped || dropped.error().code() != Code::resource_exhausted) return;
    if (!coroutine::sleep_for(drop_interval)) return;
  }
}

void NodeTenants::view_changed(const std::shared_ptr<const ClusterView>& view) {
  peers_.keep_only(*view);
  shards_.post([view](Shard& shard) {
    shard.object_router().set_view(view);
    shard.sessions().view_changed();
  });
}

}  // namespace corolane::framework::detail
