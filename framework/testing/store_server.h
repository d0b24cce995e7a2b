// SPDX-License-Identifier: MIT
// The store of a simulated cluster: a server that all nodes call as they call redis, with its
// faults.
//
//   cluster.store().set_condition({.slow_by_max = 200ms, .loses_one_in = 10});
//   cluster.run_for(30s);
//   cluster.store().set_condition({});
//
// It keeps every acknowledged write. It may be slow, full or unavailable, or lose the answer of a
// write that it has applied. It may still apply a write seconds after its caller gave up.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/testing/random.h"
#include "framework/store/memory_store.h"
#include "framework/store/store.h"
#include "framework/testing/fabric.h"
#include "framework/testing/host.h"
#include "framework/testing/question.h"

namespace corolane::sim {

// Observes the operations of the store.
class StoreWitness {
 public:
  virtual void on_sealed(const framework::ObjectKey& key, std::uint64_t epoch) = 0;
  // The write created `version`.
  virtual void on_written(const framework::ObjectKey& key, std::uint64_t epoch,
                          std::uint64_t version, std::string_view bytes) = 0;
  // The store has lost what it had confirmed, and has `table` now.
  virtual void on_set_back(const framework::MemoryStore& table) = 0;

 protected:
  ~StoreWitness() = default;
};

class StoreServer {
 public:
  // The faults of the store at present.
  struct Condition {
    Duration slow_by_max{};  // Extra time of each request.
    bool is_away = false;    // Refuses everything.
    bool is_full = false;    // Refuses writes.
    // One in N writes is applied, and its answer is lost; 0: none.
    std::uint32_t loses_one_in = 0;
    // One in N writes arrives after its sender has given up; 0: none.
    std::uint32_t late_one_in = 0;
  };

  // All arguments outlive the server; `witness` may be null.
  StoreServer(Simulation& simulation, Fabric& fabric, StoreWitness* witness);
  ~StoreServer() { host_.kill(); }
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // Before a node uses it.
  void set_partition_count(std::size_t count) { partition_count_ = count; }
  std::size_t partition_count() const { return partition_count_; }

  // The store as `node` sees it. Lives no longer than the server.
  std::shared_ptr<framework::Store> store_of(Host& node);

  void set_condition(const Condition& condition) { condition_ = condition; }
  const Condition& condition() const { return condition_; }

  // It keeps nothing that it confirms from now on: lose() sets it back to this moment.
  void begin_losing();
  // Nothing without begin_losing() since the last loss.
  void lose();

  Host& host() const { return host_; }
  // The stored objects, for checks.
  const framework::MemoryStore& table() const { return table_; }

 private:
  class Remote;
  friend class Remote;

  Result<void> admit(bool is_write);
  void be_late(const framework::ObjectKey& key);
  void let_late_ones_go_first(const framework::ObjectKey& key);
  bool happens(std::uint32_t one_in) { return one_in != 0 && dice_.one_in(one_in); }

  Fabric& fabric_;
  StoreWitness* const witness_;
  test::Random dice_;
  Condition condition_;
  // Late writes, by the type and id of their object.
  std::multimap<std::pair<std::string, std::string>, coroutine::Event*> late_;
  std::size_t partition_count_ = framework::partition_count_min;
  framework::MemoryStore table_;
  std::shared_ptr<const framework::MemoryStore::Tables> kept_;  // Null: all of it is kept.
  Host& host_;
};

}  // namespace corolane::sim
