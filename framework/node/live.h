// SPDX-License-Identifier: MIT
// The configuration of a service that may change while it runs, without a lock.
//
//   return framework::run_main(argc, argv, [](Node& node, const Live<LobbyConfig>& config) {
//     node.serve([config](Shard& shard) {
//       return std::make_unique<Lobby>(shard.router(), config.on(shard));
//     });
//   });
//
//   // In a method of Lobby, whose config_ is a Live<LobbyConfig>:
//   if (room.size() >= config_->seats_max) return Error(Code::resource_exhausted, "full");
//
// Each shard has its own pointer to an immutable snapshot. A reload replaces the pointer between
// two turns, so two reads without a suspension between them see the same snapshot. Snapshots differ
// only in keys that are marked as live.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "framework/node/shard.h"

namespace corolane::framework {

template <typename Config>
class Live {
 public:
  // For the shard of this thread, the first of `shard_count`. Without a reload it never changes,
  // which suits tests.
  explicit Live(Config config, std::size_t shard_count = 1)
      : Live(std::make_shared<std::vector<Place>>(shard_count), 0) {
    const auto first = std::make_shared<const Config>(std::move(config));
    for (Place& place : *places_) place.snapshot = first;
    here().reader = &coroutine::Scheduler::current();
  }

  // Returns the handle for the services and objects of `shard`. Call it on the shard's thread.
  Live on(const Shard& shard) const {
    const Live result(places_, shard.index());
    result.here().reader = &shard.scheduler();
    return result;
  }

  // The current snapshot; the reference is valid until the caller suspends.
  const Config& operator*() const { return *read().snapshot; }
  const Config* operator->() const { return read().snapshot.get(); }
  // For a caller that keeps one snapshot across suspensions.
  std::shared_ptr<const Config> snapshot() const { return read().snapshot; }

  // Replaces the snapshot of `shard`, on its thread: for a reload.
  void set(const Shard& shard, std::shared_ptr<const Config> snapshot) const {
    (*places_)[shard.index()].snapshot = std::move(snapshot);
  }

 private:
  // The state of one shard; only its thread touches it.
  struct Place {
    std::shared_ptr<const Config> snapshot;
    const coroutine::Scheduler* reader = nullptr;
  };

  Live(std::shared_ptr<std::vector<Place>> places, std::size_t index)
      : places_(std::move(places)), index_(index) {}

  Place& here() const { return (*places_)[index_]; }
  const Place& read() const {
    const Place& place = here();
    check(place.reader == &coroutine::Scheduler::current(),
          "a live configuration is read on the shard that it is for: see Live::on()");
    return place;
  }

  std::shared_ptr<std::vector<Place>> places_;
  std::size_t index_;
};

}  // namespace corolane::framework
