// SPDX-License-Identifier: MIT
// Each fault begins at a random time and ends by itself.
#include "framework/testing/nemesis.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "framework/testing/host.h"
#include "framework/wire/partition.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t fault_concern = 100;
// The largest error of a time of day that was set wrong.
constexpr Duration time_of_day_off_max = 30s;

std::string mark_of(const Fault& fault) { return "fault: " + std::string(name_of(fault.fault)); }

}  // namespace

Nemesis::Nemesis(SimulatedCluster& cluster, std::vector<Fault> faults)
    : cluster_(cluster), faults_(std::move(faults)) {
  for (const Fault& fault : faults_) {
    // Not every cluster has a marked section.
    if (fault.fault != FaultKind::crash_in_section) cluster_.sometimes(mark_of(fault), false);
    dice_.push_back(
        cluster.simulation().dice(fault_concern + std::hash<std::string>()(fault.name)));
  }
}

void Nemesis::run_until(TimePoint until) {
  until_ = until;
  for (std::size_t i = 0; i < faults_.size(); ++i) plan(i);
  cluster_.simulation().at(until, [this] { cluster_.sections().disarm(); });
}

void Nemesis::later(Duration duration, std::move_only_function<void()> work) {
  Simulation& simulation = cluster_.simulation();
  simulation.at(std::min(simulation.now() + duration, until_), std::move(work));
}

// When two faults change the same condition, the end of the first ends both.
template <typename Server, typename Change, typename Undo>
void Nemesis::change_for(Server& server, Duration duration, Change change, Undo undo) {
  auto condition = server.condition();
  change(condition);
  server.set_condition(condition);
  later(duration, [&server, undo] {
    auto mended = server.condition();
    undo(mended);
    server.set_condition(mended);
  });
}

void Nemesis::plan(std::size_t index) {
  Simulation& simulation = cluster_.simulation();
  const TimePoint time = simulation.now() + dice_[index].up_to(2 * faults_[index].every);
  if (time < until_) simulation.at(time, [this, index] { strike(index); });
}

void Nemesis::strike(std::size_t index) {
  const Fault& fault = faults_[index];
  test::Random& dice = dice_[index];
  const Duration duration = fault.lasts_min + dice.up_to(fault.lasts_max - fault.lasts_min);
  begin(fault, duration, dice);
  plan(index);
}

void Nemesis::note(std::string_view what, std::string detail) {
  Simulation& simulation = cluster_.simulation();
  simulation.trace().add(simulation.now(), "fault", what, [&] { return detail; });
}

Host& Nemesis::any_host(test::Random& dice) {
  const std::size_t count = cluster_.node_count();
  const std::size_t choice = dice.below(count + 3);
  if (choice < count) return cluster_.node_host(choice);
  if (choice == count) return cluster_.client_host();
  return choice == count + 1 ? cluster_.store().host() : cluster_.directory().host();
}

void Nemesis::begin(const Fault& fault, Duration duration, test::Random& dice) {
  if (fault.fault == FaultKind::crash_in_section) return arm_section(fault, duration, dice);
  cluster_.sometimes(mark_of(fault));
  ++count_;
  switch (fault.fault) {
    case FaultKind::crash_in_section:
      return;
    case FaultKind::crash:
    case FaultKind::power_off:
    case FaultKind::drain:
    case FaultKind::move:
    case FaultKind::pause:
    case FaultKind::skew_clock:
    case FaultKind::few_stacks:
      return strike_node(fault, duration, dice);
    case FaultKind::reset:
    case FaultKind::delay:
    case FaultKind::cut_one_way:
    case FaultKind::cut_off:
    case FaultKind::cut_directory:
    case FaultKind::part:
      return strike_network(fault, duration, dice);
    case FaultKind::no_leader:
    case FaultKind::replaced_directory:
    case FaultKind::slow_directory:
    case FaultKind::mute_directory:
    case FaultKind::late_commits:
    case FaultKind::late_lease:
    case FaultKind::late_watch:
    case FaultKind::watch_gap:
      return strike_directory(fault, duration);
    case FaultKind::slow_store:
    case FaultKind::no_store:
    case FaultKind::full_store:
    case FaultKind::mute_store:
    case FaultKind::late_writes:
    case FaultKind::lose_writes:
      return strike_store(fault, duration);
  }
}

void Nemesis::arm_section(const Fault& fault, Duration duration, test::Random& dice) {
  cluster_.sections().arm_any(dice, [this, &fault, duration](std::size_t node) {
    cluster_.sometimes(mark_of(fault));
    ++count_;
    later(duration, [this, node] { cluster_.restart(node); });
  });
}

void Nemesis::strike_node(const Fault& fault, Duration duration, test::Random& dice) {
  const std::size_t node = dice.below(cluster_.node_count());
  Host& host = cluster_.node_host(node);
  note(name_of(fault.fault), host.name() + " for " + std::to_string(duration / 1ms) + " ms");
  const auto start_again = [this, node] { cluster_.restart(node); };
  switch (fault.fault) {
    case FaultKind::crash:
      cluster_.crash(node);
      return later(duration, start_again);
    case FaultKind::power_off:
      cluster_.switch_off(node);
      return later(duration, start_again);
    case FaultKind::drain:
      cluster_.stop(node);
      return later(duration, start_again);
    case FaultKind::move:
      for (std::uint32_t i = 0; i < fault.amount; ++i) {
        const auto partition =
            static_cast<framework::Partition>(dice.below(cluster_.store().partition_count()));
        cluster_.directory().pin(partition, host.name());
        later(duration, [this, partition] { cluster_.directory().pin(partition, ""); });
      }
      return;
    case FaultKind::pause:
      return cluster_.pause(node, std::min(duration, until_ - cluster_.simulation().now()));
    case FaultKind::skew_clock: {
      const auto wrong = static_cast<std::int64_t>(dice.below(2 * fault.amount + 1)) -
                         static_cast<std::int64_t>(fault.amount);
      cluster_.skew_clock(node, wrong, dice.up_to(2 * time_of_day_off_max) - time_of_day_off_max);
      return later(duration, [this, node] { cluster_.skew_clock(node, 0, Duration::zero()); });
    }
    case FaultKind::few_stacks:
      cluster_.crash(node);
      host.set_stack_count_max(fault.amount);
      cluster_.restart(node);
      return later(duration, [this, node, &host] {
        host.set_stack_count_max(0);
        cluster_.crash(node);
        cluster_.restart(node);
      });
    default:
      return;
  }
}

void Nemesis::strike_network(const Fault& fault, Duration duration, test::Random& dice) {
  Fabric& fabric = cluster_.fabric();
  const auto cut = [&](Host& from, Host& to) {
    fabric.cut(from, to);
    later(duration, [&fabric, &from, &to] { fabric.mend(from, to); });
  };
  const std::string length = " for " + std::to_string(duration / 1ms) + " ms";
  switch (fault.fault) {
    case FaultKind::reset: {
      Host& a = any_host(dice);
      Host& b = any_host(dice);
      note("reset", a.name() + " and " + b.name());
      return fabric.reset_one(a, b);
    }
    case FaultKind::delay: {
      Host& from = any_host(dice);
      Host& to = any_host(dice);
      note("delay", from.name() + " to " + to.name() + length);
      fabric.set_delay(from, to, dice.up_to(std::chrono::milliseconds(fault.amount)));
      return later(duration, [&fabric, &from, &to] { fabric.set_delay(from, to, {}); });
    }
    case FaultKind::cut_one_way: {
      Host& from = any_host(dice);
      Host& to = any_host(dice);
      note("cut", from.name() + " to " + to.name() + length);
      return cut(from, to);
    }
    case FaultKind::cut_off: {
      const std::size_t node = dice.below(cluster_.node_count());
      Host& host = cluster_.node_host(node);
      note("cut off", host.name() + length);
      std::vector<Host*> others = {&cluster_.client_host(), &cluster_.store().host(),
                                   &cluster_.directory().host()};
      for (std::size_t i = 0; i < cluster_.node_count(); ++i) {
        if (i != node) others.push_back(&cluster_.node_host(i));
      }
      for (Host* const other : others) {
        cut(host, *other);
        cut(*other, host);
      }
      return;
    }
    case FaultKind::cut_directory: {
      const std::size_t only = dice.below(cluster_.node_count());
      const bool is_for_all = dice.one_in(2);
      note("cut", "the directory from " +
                      (is_for_all ? "all nodes" : cluster_.node_host(only).name()) + length);
      for (std::size_t i = 0; i < cluster_.node_count(); ++i) {
        if (!is_for_all && i != only) continue;
        cut(cluster_.node_host(i), cluster_.directory().host());
        cut(cluster_.directory().host(), cluster_.node_host(i));
      }
      return;
    }
    case FaultKind::part: {
      note("parted", "nodes" + length);
      const std::uint64_t side = dice.any();
      for (std::size_t a = 0; a < cluster_.node_count(); ++a) {
        for (std::size_t b = 0; b < cluster_.node_count(); ++b) {
          if (((side >> a ^ side >> b) & 1) != 0) cut(cluster_.node_host(a), cluster_.node_host(b));
        }
      }
      return;
    }
    default:
      return;
  }
}

void Nemesis::strike_directory(const Fault& fault, Duration duration) {
  DirectoryServer& directory = cluster_.directory();
  note("directory",
       std::string(name_of(fault.fault)) + " for " + std::to_string(duration / 1ms) + " ms");
  const auto with = [&](auto change, auto undo) { change_for(directory, duration, change, undo); };
  using Condition = DirectoryServer::Condition;
  const Duration amount = std::chrono::milliseconds(fault.amount);
  switch (fault.fault) {
    case FaultKind::replaced_directory:
      directory.replace();
      return with([](Condition&) {}, [&directory](Condition&) { directory.accept(); });
    case FaultKind::no_leader:
      return with([](Condition& c) { c.has_leader = false; },
                  [](Condition& c) { c.has_leader = true; });
    case FaultKind::slow_directory:
      return with([&](Condition& c) { c.slow_by_max = c.watch_delay_max = amount; },
                  [](Condition& c) { c.slow_by_max = c.watch_delay_max = {}; });
    case FaultKind::mute_directory:
      return with([&](Condition& c) { c.loses_one_in = fault.amount; },
                  [](Condition& c) { c.loses_one_in = 0; });
    case FaultKind::late_commits:
      return with(
          [&](Condition& c) {
            c.late_one_in = fault.amount;
            c.watch_delay_max = std::chrono::seconds(3);
          },
          [](Condition& c) {
            c.late_one_in = 0;
            c.watch_delay_max = {};
          });
    case FaultKind::late_lease:
      return with([&](Condition& c) { c.lease_delay_max = amount; },
                  [](Condition& c) { c.lease_delay_max = {}; });
    case FaultKind::late_watch:
      return with([&](Condition& c) { c.watch_delay_max = amount; },
                  [](Condition& c) { c.watch_delay_max = {}; });
    case FaultKind::watch_gap:
      return with([&](Condition& c) { c.gap_one_in = fault.amount; },
                  [](Condition& c) { c.gap_one_in = 0; });
    default:
      return;
  }
}

void Nemesis::strike_store(const Fault& fault, Duration duration) {
  StoreServer& store = cluster_.store();
  note("store",
       std::string(name_of(fault.fault)) + " for " + std::to_string(duration / 1ms) + " ms");
  const auto with = [&](auto change, auto undo) { change_for(store, duration, change, undo); };
  using Condition = StoreServer::Condition;
  const Duration amount = std::chrono::milliseconds(fault.amount);
  switch (fault.fault) {
    case FaultKind::slow_store:
      return with([&](Condition& c) { c.slow_by_max = amount; },
                  [](Condition& c) { c.slow_by_max = {}; });
    case FaultKind::no_store:
      return with([](Condition& c) { c.is_away = true; }, [](Condition& c) { c.is_away = false; });
    case FaultKind::full_store:
      return with([](Condition& c) { c.is_full = true; }, [](Condition& c) { c.is_full = false; });
    case FaultKind::mute_store:
      return with([&](Condition& c) { c.loses_one_in = fault.amount; },
                  [](Condition& c) { c.loses_one_in = 0; });
    case FaultKind::late_writes:
      return with([&](Condition& c) { c.late_one_in = fault.amount; },
                  [](Condition& c) { c.late_one_in = 0; });
    case FaultKind::lose_writes:
      store.begin_losing();
      return later(duration, [&store] { store.lose(); });
    default:
      return;
  }
}

}  // namespace corolane::sim
