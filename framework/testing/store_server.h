// The store of a simulated cluster: a server that all nodes ask, as they ask a redis; and what goes
// wrong with one.
//
// It keeps what it has acknowledged. It may be slow, full, away, or apply a write whose answer gets
// lost; a request that was given up may still be applied, seconds later.
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
#include "framework/cluster/seeded_bugs.h"
#include "framework/store/memory_store.h"
#include "framework/store/store.h"
#include "framework/testing/fabric.h"
#include "framework/testing/host.h"
#include "framework/testing/question.h"

namespace corolane::sim {

// Is told what the store does.
class StoreWitness {
 public:
  virtual void on_sealed(const framework::ObjectKey& key, std::uint64_t epoch) = 0;
  // By which `version` came to be.
  virtual void on_written(const framework::ObjectKey& key, std::uint64_t epoch,
                          std::uint64_t version, std::string_view bytes) = 0;

 protected:
  ~StoreWitness() = default;
};

class StoreServer {
 public:
  // How it is at present.
  struct Condition {
    Duration slow_by_max{};  // Each request takes up to so much longer.
    bool is_away = false;    // Refuses whatever comes.
    bool is_full = false;    // Refuses what would be written.
    // One write in so many is made, and its answer is lost; 0: none.
    std::uint32_t loses_one_in = 0;
    // One write in so many comes when its sender has given it up; 0: none.
    std::uint32_t late_one_in = 0;
  };

  // All of them outlive it; `witness` may be null.
  StoreServer(Simulation& simulation, Fabric& fabric, StoreWitness* witness,
              const framework::SeededBugs& bugs);
  ~StoreServer() { host_.kill(); }
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // How a node sees it. Lives no longer than the server.
  std::shared_ptr<framework::Store> store_of(Host& node);

  void set_condition(const Condition& condition) { condition_ = condition; }
  const Condition& condition() const { return condition_; }

  Host& host() const { return host_; }
  // What is stored now, of any object; for those who check.
  const framework::MemoryStore& table() const { return table_; }

 private:
  class Remote;
  friend class Remote;

  Result<void> admit(bool is_write);
  void be_late(const framework::ObjectKey& key);
  void let_late_ones_go_first(const framework::ObjectKey& key);
  bool happens(std::uint32_t one_in) { return one_in != 0 && dice_.one_in(one_in); }

  Simulation& simulation_;
  Fabric& fabric_;
  StoreWitness* const witness_;
  const framework::SeededBugs bugs_;
  test::Random dice_;
  Condition condition_;
  // Writes that come late, by the type and id of their object.
  std::multimap<std::pair<std::string, std::string>, coroutine::Event*> late_;
  framework::MemoryStore table_;
  Host& host_;
};

}  // namespace corolane::sim
