// SPDX-License-Identifier: MIT
#include "framework/store/memory_store.h"

#include <algorithm>

#include "framework/store/detail/refusals.h"

namespace corolane::framework {

Result<std::uint64_t> MemoryStore::next_epoch(Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may.error();
  const std::scoped_lock lock(mutex_);
  return ++last_epoch_;
}

Result<StoredObject> MemoryStore::seal(const ObjectKey& key, std::uint64_t epoch,
                                       Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may.error();
  Stripe& stripe = stripe_of(key.partition);
  const std::scoped_lock lock(stripe.mutex);
  auto& rows = stripe.table.rows;
  Key name(key.type, key.id);
  const auto place = rows.find(name);
  const std::uint64_t last =
      place == rows.end() ? stripe.table.floors[key.partition] : place->second.epoch;
  if (last > epoch) return detail::sealed_by_later_owner(key, last, epoch);
  Row& row = place == rows.end() ? rows[std::move(name)] : place->second;
  row.epoch = epoch;
  row.partition = key.partition;
  return row.object;
}

Result<void> MemoryStore::release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may;
  Stripe& stripe = stripe_of(key.partition);
  const std::scoped_lock lock(stripe.mutex);
  const auto place = stripe.table.rows.find({std::string(key.type), std::string(key.id)});
  if (place == stripe.table.rows.end()) return {};
  if (place->second.epoch == epoch && place->second.object.version == 0) {
    remove(stripe.table, place);
  }
  return {};
}

Result<void> MemoryStore::write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                                const ObjectWrite& object, Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may.error();
  const detail::RowMark expected = {.epoch = epoch, .version = version};
  Stripe& stripe = stripe_of(key.partition);
  const std::scoped_lock lock(stripe.mutex);
  const auto place = stripe.table.rows.find({std::string(key.type), std::string(key.id)});
  if (place == stripe.table.rows.end()) return detail::not_to_be_replaced(key, {}, expected);
  Row& row = place->second;
  const detail::RowMark found = {.epoch = row.epoch, .version = row.object.version};
  if (found != expected) return detail::not_to_be_replaced(key, found, expected);
  row.object.bytes = object.bytes;
  row.object.version = object.version_after(version);
  row.object.is_tombstone = object.forget_at.has_value();
  set_time(stripe.table.waking, place->first, row.partition, row.wake_at, object.wake_at);
  set_time(stripe.table.tombstones, place->first, row.partition, row.forget_at, object.forget_at);
  return {};
}

Result<std::vector<DueObject>> MemoryStore::due(Partition partition, WallTime until,
                                                std::size_t count_max, Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may.error();
  Stripe& stripe = stripe_of(partition);
  const std::scoped_lock lock(stripe.mutex);
  const Times& waking = stripe.table.waking;
  std::vector<DueObject> found;
  for (auto place = waking.lower_bound({partition, WallTime::min(), {}}); place != waking.end();
       ++place) {
    const auto& [its_partition, wake_at, key] = *place;
    if (found.size() >= count_max || its_partition != partition || wake_at > until) break;
    found.push_back({.type = key.first, .id = key.second, .wake_at = wake_at});
  }
  return found;
}

Result<std::size_t> MemoryStore::forget(Partition partition, WallTime now, std::size_t count_max,
                                        Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may.error();
  Stripe& stripe = stripe_of(partition);
  const std::scoped_lock lock(stripe.mutex);
  Times& tombstones = stripe.table.tombstones;
  std::size_t count = 0;
  for (auto place = tombstones.lower_bound({partition, WallTime::min(), {}});
       place != tombstones.end() && count < count_max; ++count) {
    const auto& [its_partition, forget_at, key] = *place;
    if (its_partition != partition || forget_at > now) break;
    remove(stripe.table, stripe.table.rows.find(key));
    place = tombstones.erase(place);
  }
  return count;
}

// For nodes of a simulation, which share it.
Result<DirectoryMark> MemoryStore::note_directory(const DirectoryMark& mark,
                                                  const NoteOptions& options, Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may.error();
  const std::scoped_lock lock(mutex_);
  const bool replaces =
      options.may_replace && directory_ && mark.generation > directory_->generation;
  if (!directory_ || replaces || mark.continues(*directory_)) directory_ = mark;
  return *directory_;
}

void MemoryStore::remove(Table& table, std::map<Key, Row>::iterator place) {
  const auto& [key, row] = *place;
  std::uint64_t& floor = table.floors[row.partition];
  floor = std::max(floor, row.epoch);
  table.rows.erase(place);
}

MemoryStore::Row MemoryStore::look(const ObjectKey& key) const {
  const Key name(key.type, key.id);
  for (const Stripe& stripe : stripes_) {
    const std::scoped_lock lock(stripe.mutex);
    const auto found = stripe.table.rows.find(name);
    if (found != stripe.table.rows.end()) return found->second;
  }
  return {};
}

std::shared_ptr<const MemoryStore::Tables> MemoryStore::tables() const {
  const auto copy = std::make_shared<Tables>();
  for (std::size_t i = 0; i < stripe_count; ++i) {
    const std::scoped_lock lock(stripes_.at(i).mutex);
    copy->stripes.at(i) = stripes_.at(i).table;
  }
  const std::scoped_lock lock(mutex_);
  copy->last_epoch = last_epoch_;
  copy->directory = directory_;
  return copy;
}

void MemoryStore::set_back(const Tables& tables) {
  for (std::size_t i = 0; i < stripe_count; ++i) {
    const std::scoped_lock lock(stripes_.at(i).mutex);
    stripes_.at(i).table = tables.stripes.at(i);
  }
  const std::scoped_lock lock(mutex_);
  last_epoch_ = tables.last_epoch;
  directory_ = tables.directory;
}

void MemoryStore::set_time(Times& times, const Key& key, Partition partition,
                           std::optional<WallTime>& time, std::optional<WallTime> new_time) {
  if (time) times.erase({partition, *time, key});
  if (new_time) times.insert({partition, *new_time, key});
  time = new_time;
}

}  // namespace corolane::framework
