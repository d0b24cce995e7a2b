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
  const std::scoped_lock lock(mutex_);
  Key name(key.type, key.id);
  const auto place = rows_.find(name);
  const std::uint64_t last =
      place == rows_.end() ? floors_[partition_of(key.type, key.id)] : place->second.epoch;
  if (last > epoch) return detail::sealed_by_later_owner(key, last, epoch);
  Row& row = place == rows_.end() ? rows_[std::move(name)] : place->second;
  row.epoch = epoch;
  return row.object;
}

Result<void> MemoryStore::release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may;
  const std::scoped_lock lock(mutex_);
  const auto place = rows_.find({std::string(key.type), std::string(key.id)});
  if (place == rows_.end()) return {};
  if (place->second.epoch == epoch && place->second.object.version == 0) remove(place);
  return {};
}

Result<void> MemoryStore::write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                                const ObjectWrite& object, Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may.error();
  const detail::RowMark expected = {.epoch = epoch, .version = version};
  const std::scoped_lock lock(mutex_);
  const auto place = rows_.find({std::string(key.type), std::string(key.id)});
  if (place == rows_.end()) return detail::not_to_be_replaced(key, {}, expected);
  Row& row = place->second;
  const detail::RowMark found = {.epoch = row.epoch, .version = row.object.version};
  if (found != expected) return detail::not_to_be_replaced(key, found, expected);
  row.object.bytes = object.bytes;
  ++row.object.version;
  row.object.is_tombstone = object.forget_at.has_value();
  set_time(waking_, place->first, row.wake_at, object.wake_at);
  set_time(tombstones_, place->first, row.forget_at, object.forget_at);
  return {};
}

Result<std::vector<DueObject>> MemoryStore::due(Partition partition, WallTime until,
                                                std::size_t count_max, Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may.error();
  const std::scoped_lock lock(mutex_);
  std::vector<DueObject> found;
  for (auto place = waking_.lower_bound({partition, WallTime::min(), {}}); place != waking_.end();
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
  const std::scoped_lock lock(mutex_);
  std::size_t count = 0;
  for (auto place = tombstones_.lower_bound({partition, WallTime::min(), {}});
       place != tombstones_.end() && count < count_max; ++count) {
    const auto& [its_partition, forget_at, key] = *place;
    if (its_partition != partition || forget_at > now) break;
    remove(rows_.find(key));
    place = tombstones_.erase(place);
  }
  return count;
}

// For nodes of a simulation, which share it.
Result<DirectoryMark> MemoryStore::note_directory(const DirectoryMark& mark, bool may_replace,
                                                  Deadline deadline) {
  if (auto may = detail::check_may_begin(deadline); !may) return may.error();
  const std::scoped_lock lock(mutex_);
  const bool replaces = may_replace && directory_ && mark.generation > directory_->generation;
  if (!directory_ || replaces || mark.continues(*directory_)) directory_ = mark;
  return *directory_;
}

void MemoryStore::remove(std::map<Key, Row>::iterator place) {
  const auto& [key, row] = *place;
  std::uint64_t& floor = floors_[partition_of(key.first, key.second)];
  floor = std::max(floor, row.epoch);
  rows_.erase(place);
}

MemoryStore::Row MemoryStore::look(const ObjectKey& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = rows_.find({std::string(key.type), std::string(key.id)});
  return found == rows_.end() ? Row{} : found->second;
}

std::shared_ptr<const MemoryStore::Tables> MemoryStore::tables() const {
  const std::scoped_lock lock(mutex_);
  return std::make_shared<const Tables>(last_epoch_, rows_, floors_, directory_, waking_,
                                        tombstones_);
}

void MemoryStore::set_back(const Tables& tables) {
  const std::scoped_lock lock(mutex_);
  last_epoch_ = tables.last_epoch;
  rows_ = tables.rows;
  floors_ = tables.floors;
  directory_ = tables.directory;
  waking_ = tables.waking;
  tombstones_ = tables.tombstones;
}

void MemoryStore::set_time(Times& times, const Key& key, std::optional<WallTime>& time,
                           std::optional<WallTime> new_time) {
  const Partition partition = partition_of(key.first, key.second);
  if (time) times.erase({partition, *time, key});
  if (new_time) times.insert({partition, *new_time, key});
  time = new_time;
}

}  // namespace corolane::framework
