// SPDX-License-Identifier: MIT
// Eight races planted in the services of a small market, all of the same kind: a task trusts, after
// a call that might suspend, what it read before the call. In a quiet run none of these calls
// suspends, so no test without exploration notices. A shuffle seed finds each:
//
//   $ planted_races
//   mutex: 102 gold of 103, found by seed 3: planted_races --race mutex --seed 3
//   ...
//
// The same services with the races repaired must be right for every seed, and without exploration
// the planted ones must be, too: otherwise something else was found.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/async/async.h"
#include "coroutine/async/async_group.h"
#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/channel.h"
#include "coroutine/sync/future.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/sync/shared_mutex.h"
#include "coroutine/task_group.h"
#include "coroutine/virtual_time.h"
#include "framework/store/memory_store.h"
#include "test/framework/counter.h"
#include "test/framework/stage.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using namespace coroutine;

// Which program runs: with the race, or repaired.
enum class Version : std::uint8_t { racy, repaired };

// Runs a few tasks at once, to their end. None of them fails.
template <typename... F>
void run_together(F... bodies) {
  TaskGroup tasks;
  (check(tasks.spawn("player", std::move(bodies)).has_value(), "there is a stack"), ...);
  check(tasks.join(Deadline::never()).has_value(), "no player fails");
}

// Empty when `is` is what it should be.
std::string compare(std::string_view what, int is, int should_be) {
  if (is == should_be) return {};
  return std::to_string(is) + " " + std::string(what) + " instead of " + std::to_string(should_be);
}

// Each function below returns what is wrong after a run; mostly nothing.

// Gold that was read before the lock was held is out of date.
std::string lose_gold_across_mutex(Version version) {
  Mutex mutex;
  int gold = 100;
  const auto earn = [&] {
    int before = gold;
    const std::scoped_lock lock(mutex);
    if (version == Version::repaired) before = gold;
    gold = before + 1;
  };
  run_together(earn, earn, earn);
  return compare("gold", gold, 103);
}

// An object that lives here is called within the caller's task: mostly without a suspension.
std::string lose_gold_across_object_call(Version version) {
  framework::MemoryStore store;
  Stage stage(store);
  stage.add<Counter>();
  stage.start();
  CounterClient journal(stage.router, "journal");
  const auto write_to_journal = [&journal] {
    check(journal.add(add_request(1)).has_value(), "the journal takes an entry");
  };
  write_to_journal();  // Activates it.

  int gold = 100;
  const auto earn = [&] {
    int before = gold;
    write_to_journal();
    if (version == Version::repaired) before = gold;
    gold = before + 1;
  };
  run_together(earn, earn, earn);
  const auto entries = journal.get({});
  check(entries.has_value() && entries->value() == 4, "the journal has all entries");
  return compare("gold", gold, 103);
}

// Two players see the last seat, both announce that they take it.
std::string sell_seat_twice_across_send(Version version) {
  Channel<int> announcements(/*capacity=*/8);
  int seats = 1;
  const auto buy = [&](int player) {
    if (seats == 0) return;
    if (version == Version::repaired) --seats;
    check(announcements.send(player, Deadline::never()).has_value(), "the channel is open");
    if (version == Version::racy) --seats;
  };
  run_together([&] { buy(1); }, [&] { buy(2); });
  return compare("seats left", seats, 0);
}

// A place in a list is another player's once someone has left.
std::string pay_wrong_player_across_semaphore(Version version) {
  struct Player {
    std::string name;
    int gold = 0;
  };
  std::vector<Player> players{{"ada", 0}, {"ben", 0}, {"cleo", 0}};
  const auto find = [&](std::string_view name) {
    return std::ranges::find(players, name, &Player::name) - players.begin();
  };
  Semaphore cashiers(/*count=*/2);
  const auto pay = [&](std::string_view name) {
    auto place = find(name);
    check(cashiers.acquire(Deadline::never()).has_value(), "a cashier comes");
    if (version == Version::repaired) place = find(name);
    ++players.at(static_cast<std::size_t>(place)).gold;
    cashiers.release();
  };
  run_together([&] { pay("ben"); }, [&] { players.erase(players.begin()); });
  return compare("gold of ben", players[static_cast<std::size_t>(find("ben"))].gold, 1);
}

// The price is known already; while the buyer asks for it, the voucher is spent again.
std::string spend_voucher_twice_across_future(Version version) {
  bool is_spent = false;
  int spent = 0;
  const auto buy = [&] {
    Promise<int> answer;
    Future<int> price = answer.get_future();
    answer.set_value(5);
    if (is_spent) return;
    if (version == Version::repaired) is_spent = true;
    spent += price.get(Deadline::never()).value();
    is_spent = true;
  };
  run_together(buy, buy);
  return compare("gold spent", spent, 5);
}

// A pause that has already passed, in the middle of a change that others see.
std::string show_half_transfer_across_sleep(Version version) {
  int seller = 0;
  int buyer = 10;
  int seen = 10;
  const auto transfer = [&] {
    if (version == Version::repaired) check(sleep_for(0s).has_value(), "nobody cancels");
    buyer -= 10;
    if (version == Version::racy) check(sleep_for(0s).has_value(), "nobody cancels");
    seller += 10;
  };
  run_together(transfer, [&] { seen = seller + buyer; });
  return compare("gold in all", seen, 10);
}

// A stackless coroutine in the same trap as the first player.
Async<void> earn_stackless(Mutex& mutex, int& gold, Version version) {
  int before = gold;
  auto locked = co_await until(mutex.locking(), Deadline::never());
  if (!locked) co_return locked.error();
  if (version == Version::repaired) before = gold;
  gold = before + 1;
  mutex.unlock();
  co_return {};
}

std::string lose_gold_across_locking(Version version) {
  Mutex mutex;
  int gold = 100;
  AsyncGroup monsters;
  for (int i = 0; i < 3; ++i) monsters.spawn(earn_stackless(mutex, gold, version));
  check(monsters.join(Deadline::never()).has_value(), "no monster fails");
  return compare("gold", gold, 103);
}

// A worker that has found the market open brings goods after it was closed and emptied.
std::string bring_goods_after_closing(Version version) {
  SharedMutex prices;
  bool is_closed = false;
  int goods = 0;
  const auto bring = [&] {
    if (is_closed) return;
    const std::shared_lock lock(prices);
    if (version == Version::repaired && is_closed) return;
    ++goods;
  };
  const auto close = [&] {
    is_closed = true;
    goods = 0;  // Given back.
  };
  run_together(bring, bring, close);
  return compare("goods in the closed market", goods, 0);
}

struct Race {
  std::string_view name;
  std::string (*run)(Version version);
};

constexpr std::array races{
    Race{"mutex", lose_gold_across_mutex},
    Race{"object_call", lose_gold_across_object_call},
    Race{"channel", sell_seat_twice_across_send},
    Race{"semaphore", pay_wrong_player_across_semaphore},
    Race{"future", spend_voucher_twice_across_future},
    Race{"sleep", show_half_transfer_across_sleep},
    Race{"stackless", lose_gold_across_locking},
    Race{"shutdown", bring_goods_after_closing},
};

struct Run {
  std::uint64_t seed = 1;
  Version version = Version::racy;
  bool explores = true;
};

std::string outcome_of(const Race& race, const Run& run) {
  VirtualTime time;
  Scheduler scheduler(time, {.shuffle_seed = run.seed, .explores_suspensions = run.explores});
  std::string outcome;
  const auto ran = scheduler.run("market", [&] { outcome = race.run(run.version); });
  check(ran.has_value(), "the market opens");
  return outcome;
}

constexpr std::uint64_t last_seed = 500;

// The first seed from 1 on that breaks the program; 0 when none does.
std::uint64_t first_broken(const Race& race, Run run) {
  for (run.seed = 1; run.seed <= last_seed; ++run.seed) {
    if (!outcome_of(race, run).empty()) return run.seed;
  }
  return 0;
}

// The one that runs under some seed, although it should not.
bool is_sound(const Race& race, const Run& run, std::string_view which) {
  const std::uint64_t seed = first_broken(race, run);
  if (seed == 0) return true;
  std::printf("%s: %s, but broken under seed %llu\n", std::string(race.name).c_str(),
              std::string(which).c_str(), static_cast<unsigned long long>(seed));
  return false;
}

// Whether another process that runs `command` reports the same.
bool is_replayed(const std::string& command, const std::string& outcome) {
  std::FILE* const output = ::popen(command.c_str(), "r");
  if (output == nullptr) return false;
  std::array<char, 256> line{};
  const bool has_line = std::fgets(line.data(), line.size(), output) != nullptr;
  return ::pclose(output) != 0 && has_line && line.data() == outcome + "\n";
}

bool finds(const Race& race, const std::string& program) {
  const std::string name(race.name);
  const std::uint64_t seed = first_broken(race, {});
  if (seed == 0) {
    std::printf("%s: not found\n", name.c_str());
    return false;
  }
  const std::string outcome = outcome_of(race, {.seed = seed});
  const std::string command = program + " --race " + name + " --seed " + std::to_string(seed);
  std::printf("%s: %s, found by seed %llu: %s\n", name.c_str(), outcome.c_str(),
              static_cast<unsigned long long>(seed), command.c_str());
  std::fflush(stdout);
  if (is_replayed(command, outcome)) return true;
  std::printf("%s: the replay differs\n", name.c_str());
  return false;
}

int find_all(const std::string& program) {
  std::size_t found = 0;
  bool is_all_sound = true;
  for (const Race& race : races) {
    if (finds(race, program)) ++found;
    if (!is_sound(race, {.version = Version::repaired}, "repaired")) is_all_sound = false;
    if (!is_sound(race, {.explores = false}, "not explored")) is_all_sound = false;
  }
  std::printf("%zu of %zu races found within %llu seeds\n", found, races.size(),
              static_cast<unsigned long long>(last_seed));
  return found == races.size() && is_all_sound ? EXIT_SUCCESS : EXIT_FAILURE;
}

int replay(std::string_view name, std::string_view seed_text) {
  const auto* const race = std::ranges::find(races, name, &Race::name);
  Run run;
  const char* const end = seed_text.data() + seed_text.size();
  const auto read = std::from_chars(seed_text.data(), end, run.seed);
  if (race == races.end() || read.ec != std::errc() || read.ptr != end) {
    std::fputs("there is no such race or seed\n", stderr);
    return EXIT_FAILURE;
  }
  const std::string outcome = outcome_of(*race, run);
  if (outcome.empty()) return EXIT_SUCCESS;
  std::puts(outcome.c_str());
  return EXIT_FAILURE;
}

}  // namespace
}  // namespace corolane::test

int main(int argc, char** argv) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  if (arguments.size() == 1) {
    return corolane::test::find_all(std::filesystem::canonical("/proc/self/exe").string());
  }
  if (arguments.size() == 5 && std::string_view(arguments[1]) == "--race" &&
      std::string_view(arguments[3]) == "--seed") {
    return corolane::test::replay(arguments[2], arguments[4]);
  }
  std::fputs("usage: planted_races [--race NAME --seed N]\n", stderr);
  return EXIT_FAILURE;
}
