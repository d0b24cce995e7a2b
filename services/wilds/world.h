// SPDX-License-Identifier: MIT
// A world whose inhabitants are stackless coroutines: each costs some 300 bytes, so that a node has
// millions of them. They roam, drink at springs where one drinks at a time, and bring the gold that
// they find to a lair, an object that may live on another node.
//
// Not thread-safe: every shard has its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coroutine/async/async.h"
#include "coroutine/async/async_group.h"
#include "coroutine/base/split_mix.h"
#include "coroutine/sync/mutex.h"
#include "framework/routing/router.h"
#include "services/wilds/wilds_config.h"

namespace corolane::services::wilds {

class World {
 public:
  static constexpr int springs = 64;
  static constexpr int lairs = 16;

  struct Chronicle {
    std::uint64_t steps = 0;
    std::uint64_t drinks = 0;
    std::uint64_t gold_delivered = 0;
    std::uint64_t failed_deliveries = 0;
  };

  // The monsters begin to live in the running scheduler. `router` outlives the world.
  World(framework::Router& router, const WildsConfig& config, std::uint64_t seed);
  // Suspends until every monster has come to rest.
  ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::size_t monster_count() const { return monsters_.size(); }
  const Chronicle& chronicle() const { return chronicle_; }

 private:
  struct Monster {
    std::uint32_t place;
    std::uint16_t thirst = 0;
    std::uint16_t gold = 0;
  };

  // Each ends when the world does.
  coroutine::Async<void> live(Monster monster);
  coroutine::Async<void> drink(Monster& monster);
  coroutine::Async<void> deliver(Monster& monster);
  void roam(Monster& monster);
  Duration pause();

  framework::Router& router_;
  const WildsConfig config_;
  SplitMix64 random_;
  Chronicle chronicle_;
  std::array<coroutine::Mutex, springs> springs_;
  coroutine::AsyncGroup monsters_;  // Ends first.
};

}  // namespace corolane::services::wilds
