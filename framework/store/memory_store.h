// SPDX-License-Identifier: MIT
// Objects in the memory of this process: for tests, and for games without persistence.
//
//   auto store = std::make_shared<MemoryStore>();
//   Node node(config, network, Log(LogLevel::info), {.store = store});
//
// Any number of shards may share one store, and in tests any number of nodes. It may be called from
// any scheduler and never waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "framework/store/store.h"

namespace corolane::framework {

class MemoryStore : public Store {
 public:
  Result<std::uint64_t> next_epoch(Deadline deadline) override;
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override;
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max,
                                     Deadline deadline) override;
  Result<std::size_t> forget(Partition partition, WallTime now, std::size_t count_max,
                             Deadline deadline) override;
  Result<DirectoryMark> note_directory(const DirectoryMark& mark, const NoteOptions& options,
                                       Deadline deadline) override;
  bool is_shared() const override { return false; }
  std::string name() const override { return "memory"; }

  // For tests: the epoch by which an object is sealed, and its state, whatever the partition of the
  // key. Never suspends.
  struct Row {
    std::uint64_t epoch = 0;
    StoredObject object = {};
    std::optional<WallTime> wake_at = {};
    std::optional<WallTime> forget_at = {};
    Partition partition = 0;
  };
  Row look(const ObjectKey& key) const;
  // Calls visit(key, row) for each object.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Stripe& stripe : stripes_) {
      const std::scoped_lock lock(stripe.mutex);
      for (const auto& [key, row] : stripe.table.rows) {
        visit(ObjectKey{.type = key.first, .id = key.second}, row);
      }
    }
  }

  // For simulations: all that it holds, and the way back to that. Neither suspends.
  struct Tables;
  std::shared_ptr<const Tables> tables() const;
  void set_back(const Tables& tables);

 private:
  using Key = std::pair<std::string, std::string>;  // Type and id.
  // Rows by one of their times.
  using Times = std::set<std::tuple<Partition, WallTime, Key>>;
  struct Table {
    std::map<Key, Row> rows;
    std::map<Partition, std::uint64_t> floors;  // The latest epochs of removed rows.
    Times waking;
    Times tombstones;
  };
  // The partitions with one lock. Shards own different partitions, so they seldom meet at one.
  struct Stripe {
    mutable std::mutex mutex;
    Table table;
  };
  static constexpr std::size_t stripe_count = 64;

  Stripe& stripe_of(Partition partition) { return stripes_.at(partition % stripe_count); }
  // Sets a time of a row.
  static void set_time(Times& times, const Key& key, Partition partition,
                       std::optional<WallTime>& time, std::optional<WallTime> new_time);
  // Removes a row that holds nothing.
  static void remove(Table& table, std::map<Key, Row>::iterator place);

  std::array<Stripe, stripe_count> stripes_;
  mutable std::mutex mutex_;  // Guards the members below.
  std::uint64_t last_epoch_ = 0;
  std::optional<DirectoryMark> directory_;
};

struct MemoryStore::Tables {
  std::array<Table, stripe_count> stripes;
  std::uint64_t last_epoch;
  std::optional<DirectoryMark> directory;
};

}  // namespace corolane::framework
