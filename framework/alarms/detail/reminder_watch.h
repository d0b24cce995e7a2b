// SPDX-License-Identifier: MIT
// Wakes the inactive objects of one shard when their reminders are due.
//
// The store knows the next reminder of each object. The watch queries each partition as soon as we
// own it, and every half minute from then on, for objects due within a minute. They wait here until
// their time. Active objects have their own alarms. An object that is deactivated between two
// queries is noted directly when the next query would be too late.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/task_group.h"
#include "framework/cluster/ownership.h"
#include "framework/store/store.h"
#include "framework/telemetry/log.h"
#include "framework/time/wall_clock.h"
#include "framework/wire/partition.h"

namespace corolane::framework::detail {

// A type of objects whose reminders are watched.
class RemindedType {
 public:
  virtual std::string_view name() const = 0;
  virtual const Ownership& ownership() const = 0;
  virtual Partition partition_of(std::string_view id) const = 0;

 protected:
  ~RemindedType() = default;
};

class ReminderWatch {
 public:
  struct Options {
    Duration look_interval = std::chrono::seconds(30);
    std::chrono::milliseconds horizon = std::chrono::minutes(1);  // Two intervals.
    std::size_t due_count_max = 1'000;                            // Per query of a partition.
    std::size_t waking_count_max = 64;
  };

  // Activates an object, unless it is active. Suspends.
  using Wake = std::function<Result<void>(RemindedType& type, std::string_view id)>;
  using IsHere = std::function<bool(Partition)>;

  // `store` and `log` outlive it; it watches the partitions for which `is_here` is true.
  ReminderWatch(const Options& options, Store& store, const WallClock& clock, Log& log,
                IsHere is_here, Wake wake);
  ReminderWatch(const ReminderWatch&) = delete;
  ReminderWatch& operator=(const ReminderWatch&) = delete;

  // The types outlive it.
  Result<void> start(std::vector<RemindedType*> types);
  // Suspends until no object is being woken.
  void stop() { tasks_.cancel_and_join(); }

  // We may own further partitions now.
  void ownership_changed() { news_.set(); }
  // The object is being deactivated and has a reminder at `time`.
  void note(RemindedType& type, std::string_view id, WallTime time);

 private:
  // Ordered by name, since the addresses of types differ between two runs of one simulation.
  struct Sleeper {
    WallTime time;
    RemindedType* type;
    std::string id;

    friend bool operator<(const Sleeper& a, const Sleeper& b) {
      return std::tuple(a.time, a.type->name(), std::string_view(a.id)) <
             std::tuple(b.time, b.type->name(), std::string_view(b.id));
    }
  };
  // An ownership, and the epoch of each partition at its last query.
  struct Look {
    explicit Look(const Ownership& of) : ownership(&of), epochs(of.partition_count()) {}

    const Ownership* ownership;
    std::vector<Ownership::Epoch> epochs;
  };

  void run();
  bool look();
  Result<bool> look_at(Partition partition);
  bool is_new(Partition partition);
  bool is_owned(Partition partition) const;
  std::size_t add(Partition partition, const std::vector<DueObject>& found);
  RemindedType* type_of(std::string_view name) const;
  bool wake_due();
  void begin_waking(Sleeper sleeper, coroutine::Semaphore::Permit slot);

  const Options options_;
  Store& store_;
  const WallClock clock_;
  Log& log_;
  std::vector<RemindedType*> types_;
  const IsHere is_here_;
  const Wake wake_;
  std::vector<Look> looks_;
  std::set<Sleeper> sleepers_;
  TimePoint look_at_{};
  // Partitions to query. A look begins behind the last one that was queried.
  std::vector<bool> wanted_;
  std::vector<std::size_t> count_max_;  // The next query of each partition; 0: as usual.
  Partition next_partition_ = 0;
  coroutine::Event news_{"reminder"};
  coroutine::Semaphore slots_;
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
