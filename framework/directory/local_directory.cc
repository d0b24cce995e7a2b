// SPDX-License-Identifier: MIT
#include "framework/directory/local_directory.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/timer_wheel.h"
#include "framework/directory/detail/transaction.h"

namespace corolane::framework {

struct LocalDirectory::Held final : coroutine::Timer {
  Held(LocalDirectory& owner, Lease id, std::chrono::seconds time_to_live)
      : Timer([](Timer& timer) {
          auto& self = static_cast<Held&>(timer);
          self.directory.end(self.lease);
        }),
        directory(owner),
        lease(id),
        duration(time_to_live) {
    renew();
  }

  void renew() { coroutine::Scheduler::current().timers().arm(*this, Deadline::after(duration)); }

  LocalDirectory& directory;
  const Lease lease;
  const std::chrono::seconds duration;
  std::set<std::string> keys = {};  // Entries attached to the lease.
};

LocalDirectory::LocalDirectory(Revision first_revision, Options options)
    : options_(options), revision_(first_revision), forgotten_(first_revision) {}

LocalDirectory::~LocalDirectory() = default;

Result<Directory::Lease> LocalDirectory::grant(std::chrono::seconds time_to_live,
                                               Deadline /*deadline*/) {
  const Lease lease = ++last_lease_;
  leases_.emplace(lease, std::make_unique<Held>(*this, lease, time_to_live));
  return lease;
}

Result<void> LocalDirectory::keep_alive(Lease lease, Deadline /*deadline*/) {
  const auto held = leases_.find(lease);
  if (held == leases_.end()) return detail::lease_not_found(lease);
  held->second->renew();
  return {};
}

Result<void> LocalDirectory::revoke(Lease lease, Deadline /*deadline*/) {
  end(lease);
  return {};
}

void LocalDirectory::end(Lease lease) {
  const auto ended = leases_.extract(lease);
  if (ended.empty()) return;
  const Revision revision = revision_ + 1;
  // Extracted first: remove() would change the set.
  const auto keys = std::exchange(ended.mapped()->keys, {});
  for (const std::string& key : keys) remove(rows_.find(key), revision);
  if (!keys.empty()) finish_change(revision);
}

Directory::Entry LocalDirectory::entry_of(const Rows::value_type& row) {
  return {.key = row.first,
          .value = row.second.value,
          .created_at = row.second.created_at,
          .modified_at = row.second.modified_at};
}

Result<Directory::Snapshot> LocalDirectory::list(std::string_view prefix, Deadline deadline) {
  auto recent = list_since(prefix, /*since=*/0, deadline);
  if (!recent) return recent.error();
  return Snapshot{.revision = recent->revision, .entries = std::move(recent->entries)};
}

Result<Directory::Recent> LocalDirectory::list_since(std::string_view prefix, Revision since,
                                                     Deadline /*deadline*/) {
  Recent recent{.revision = revision_};
  for (auto at = rows_.lower_bound(prefix); at != rows_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    ++recent.entry_count;
    if (at->second.modified_at > since) recent.entries.push_back(entry_of(*at));
  }
  return recent;
}

Result<Directory::Snapshot> LocalDirectory::read(std::span<const std::string> keys,
                                                 Deadline /*deadline*/) {
  if (auto sound = detail::check_read(keys); !sound) return sound.error();
  Snapshot snapshot{.revision = revision_};
  for (const std::string_view key : std::set<std::string_view>(keys.begin(), keys.end())) {
    if (auto entry = find(key)) snapshot.entries.push_back(*std::move(entry));
  }
  return snapshot;
}

std::optional<Directory::Entry> LocalDirectory::find(std::string_view key) const {
  const auto found = rows_.find(key);
  if (found == rows_.end()) return std::nullopt;
  return entry_of(*found);
}

bool LocalDirectory::holds(const Condition& condition) const {
  const auto found = rows_.find(condition.key);
  Revision number = 0;
  if (found != rows_.end()) {
    number = condition.field == Condition::Field::created_at ? found->second.created_at
                                                             : found->second.modified_at;
  }
  return (number == condition.revision) == condition.is_equal;
}

Result<Directory::Outcome> LocalDirectory::commit(const Transaction& transaction,
                                                  Deadline /*deadline*/) {
  if (auto sound = detail::check_transaction(transaction); !sound) return sound.error();
  const bool all_hold =
      std::ranges::all_of(transaction.conditions, [&](const auto& each) { return holds(each); });
  if (!all_hold) return Outcome{.is_done = false, .revision = revision_};
  for (const Put& put : transaction.puts) {
    if (put.lease != 0 && !leases_.contains(put.lease)) return detail::lease_not_found(put.lease);
  }

  const Revision revision = revision_ + 1;
  bool is_changed = !transaction.puts.empty();
  for (const Put& each : transaction.puts) put(each, revision);
  for (const std::string& key : transaction.removals) {
    const auto row = rows_.find(key);
    if (row == rows_.end()) continue;
    remove(row, revision);
    is_changed = true;
  }
  if (is_changed) finish_change(revision);
  return Outcome{.is_done = true, .revision = revision_};
}

void LocalDirectory::put(const Put& put, Revision revision) {
  Row& row = rows_[put.key];
  if (row.lease != 0) leases_.at(row.lease)->keys.erase(put.key);
  if (put.lease != 0) leases_.at(put.lease)->keys.insert(put.key);
  if (row.created_at == 0) row.created_at = revision;
  row.value = put.value;
  row.modified_at = revision;
  row.lease = put.lease;
  history_.push_back({.entry = {.key = put.key,
                                .value = put.value,
                                .created_at = row.created_at,
                                .modified_at = revision}});
}

void LocalDirectory::remove(Rows::iterator row, Revision revision) {
  // Already gone when the end of the lease removes the entry.
  const auto held = leases_.find(row->second.lease);
  if (held != leases_.end()) held->second->keys.erase(row->first);
  history_.push_back({.entry = {.key = row->first, .modified_at = revision}, .is_removed = true});
  rows_.erase(row);
}

void LocalDirectory::finish_change(Revision revision) {
  revision_ = revision;
  while (history_.size() > options_.history_count_max) {
    forgotten_ = history_.front().entry.modified_at;
    history_.pop_front();
  }
  changed_.pulse();
}

std::vector<Directory::Change> LocalDirectory::changes_since(std::string_view prefix,
                                                             Revision from) const {
  const auto revision_of = [](const Change& change) { return change.entry.modified_at; };
  std::vector<Change> changes;
  std::copy_if(std::ranges::lower_bound(history_, from, {}, revision_of), history_.end(),
               std::back_inserter(changes),
               [&](const Change& change) { return change.entry.key.starts_with(prefix); });
  return changes;
}

Result<void> LocalDirectory::watch(std::string_view prefix, Revision from,
                                   const OnChange& on_change) {
  for (Revision next = std::max<Revision>(from, 1);;) {
    if (next <= forgotten_) {
      return Error(Code::out_of_range, "the directory has forgotten changes up to revision " +
                                           std::to_string(forgotten_) + "; list it again");
    }
    // A copy, since on_change may change the directory.
    const auto changes = changes_since(prefix, next);
    next = std::max(next, revision_ + 1);
    for (const Change& change : changes) on_change(change);
    if (revision_ >= next) continue;
    if (auto waited = changed_.wait(Deadline::never()); !waited) return waited;
  }
}

}  // namespace corolane::framework
