// The way of one shard to its store. Callers of objects are told that the store is full, or away,
// and nothing of where it is or what it runs: that is in the log, a line now and then. While it is
// full it is tried again each second, so that a node whose objects are only read notices that
// there is room.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task_group.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

// What the shards of a node know of the one store that they have. From any thread.
class StoreHealth {
 public:
  bool is_full() const { return is_full_.load(std::memory_order_relaxed); }
  void set_full(bool is_full) { is_full_.store(is_full, std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_full_ = false;
};

class StoreGate final : public Store {
 public:
  // `health` and `log` outlive it.
  StoreGate(std::shared_ptr<Store> store, StoreHealth& health, Log& log)
      : store_(std::move(store)), health_(health), log_(log) {}
  ~StoreGate() override { trying_.cancel_and_join(); }

  // While the store is full: owed_epoch(), where the store has it.
  Result<std::uint64_t> next_epoch(Deadline deadline) override;
  Result<std::uint64_t> owed_epoch(Deadline deadline) override;
  Result<StoredObject> seal(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> release(const ObjectKey& key, std::uint64_t epoch, Deadline deadline) override;
  Result<void> write(const ObjectKey& key, std::uint64_t epoch, std::uint64_t version,
                     const ObjectWrite& object, Deadline deadline) override;
  Result<std::vector<DueObject>> due(Partition partition, WallTime until, std::size_t count_max,
                                     Deadline deadline) override;
  bool is_shared() const override { return store_->is_shared(); }
  std::string name() const override { return store_->name(); }

 private:
  template <typename T>
  Result<T> told(Result<T> result);
  void note(const Error& error);
  void try_again();

  const std::shared_ptr<Store> store_;
  StoreHealth& health_;
  Log& log_;
  TimePoint logged_at_{};
  std::uint64_t unlogged_count_ = 0;
  bool tries_ = false;
  coroutine::TaskGroup trying_;
};

}  // namespace corolane::framework::detail
