// SPDX-License-Identifier: MIT
#include "services/wilds/world.h"

#include <chrono>
#include <mutex>
#include <string>
#include <utility>

#include "coroutine/async/in_task.h"
#include "services/wilds/lair.corolane.h"

namespace corolane::services::wilds {
namespace {

using namespace std::chrono_literals;
using coroutine::until;

constexpr std::uint16_t thirst_max = 8;
constexpr std::uint16_t bag_size = 12;
constexpr Duration drink_time = 20ms;
// Monsters give up on a crowded spring, and on a lair that does not answer.
constexpr Duration patience = 2s;

}  // namespace

World::World(framework::Router& router, const WildsConfig& config, std::uint64_t seed)
    : router_(router), config_(config), random_(seed) {
  for (std::size_t number = 0; number < config.monsters; ++number) {
    monsters_.spawn(live({.place = static_cast<std::uint32_t>(random_.below(springs))}));
  }
}

coroutine::Async<void> World::live(Monster monster) {
  for (;;) {
    // Fails only when the world ends.
    if (auto rested = co_await until(Deadline::after(pause())); !rested) co_return {};
    roam(monster);
    // A monster tries again some steps later when it fails.
    if (monster.thirst >= thirst_max) static_cast<void>(co_await drink(monster));
    if (monster.gold >= bag_size) static_cast<void>(co_await deliver(monster));
  }
}

void World::roam(Monster& monster) {
  const std::uint64_t dice = random_.next();
  monster.place = (monster.place + (dice % 2 == 0 ? 1 : springs - 1)) % springs;
  monster.gold = static_cast<std::uint16_t>(monster.gold + dice / 2 % 4);
  ++monster.thirst;
  ++chronicle_.steps;
}

coroutine::Async<void> World::drink(Monster& monster) {
  coroutine::Mutex& spring = springs_[monster.place];
  if (auto locked = co_await until(spring.locking(), Deadline::after(patience)); !locked) {
    co_return locked.error();
  }
  const std::unique_lock lock(spring, std::adopt_lock);
  if (auto drunk = co_await until(Deadline::after(drink_time)); !drunk) co_return drunk.error();
  monster.thirst = 0;
  ++chronicle_.drinks;
  co_return {};
}

coroutine::Async<void> World::deliver(Monster& monster) {
  // The call is written for tasks, so it borrows the stack of one.
  auto stored = co_await coroutine::in_task("deliver", [&] {
    StoreRequest request;
    request.set_gold(monster.gold);
    LairClient lair(router_, "lair " + std::to_string(monster.place % lairs));
    return lair.store(request, {.deadline = Deadline::after(patience)});
  });
  if (!stored) {
    ++chronicle_.failed_deliveries;
    co_return stored.error();
  }
  chronicle_.gold_delivered += std::exchange(monster.gold, std::uint16_t{0});
  co_return {};
}

// Drawn, so that monsters that began together do not step together.
Duration World::pause() {
  const auto range = static_cast<std::uint64_t>(config_.pause.count());
  return Duration(static_cast<Duration::rep>(range / 2 + random_.below(range)));
}

}  // namespace corolane::services::wilds
