// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/reminder_watch.h"

#include <algorithm>
#include <utility>

#include "coroutine/task.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The delay after a failed query or activation.
constexpr std::chrono::milliseconds retry_interval = 1s;
// The timeout of a query to the store.
constexpr Duration look_time_max = 5s;

}  // namespace

ReminderWatch::ReminderWatch(const Options& options, Store& store, const WallClock& clock, Log& log,
                             IsHere is_here, Wake wake)
    : options_(options),
      store_(store),
      clock_(clock),
      log_(log),
      is_here_(std::move(is_here)),
      wake_(std::move(wake)),
      slots_(options.waking_count_max, "objects that are woken") {}

Result<void> ReminderWatch::start(std::vector<RemindedType*> types) {
  types_ = std::move(types);
  for (const RemindedType* const type : types_) {
    const Ownership* const ownership = &type->ownership();
    if (std::ranges::find(looks_, ownership, &Look::ownership) != looks_.end()) continue;
    looks_.emplace_back(*ownership);
    wanted_.resize(ownership->partition_count());  // All have the same store.
    count_max_.resize(wanted_.size());
  }
  auto spawned = tasks_.spawn("reminders", [this] { run(); },
                              {.purpose = coroutine::StackPool::Purpose::control});
  if (!spawned) return spawned.error();
  return {};
}

void ReminderWatch::note(RemindedType& type, std::string_view id, WallTime time) {
  if (time > clock_.now() + options_.horizon) return;
  const bool is_first = sleepers_.empty() || time < sleepers_.begin()->time;
  sleepers_.insert({.time = time, .type = &type, .id = std::string(id)});
  if (is_first) news_.set();
}

void ReminderWatch::run() {
  while (!coroutine::is_cancelled()) {
    news_.reset();
    if (now() >= look_at_) {
      wanted_.assign(wanted_.size(), true);
      look_at_ = now() + options_.look_interval;
    }
    const bool has_all = look();
    if (!wake_due()) return;
    TimePoint next = look_at_;
    if (!has_all) next = std::min(next, now() + Duration(retry_interval));
    if (!sleepers_.empty()) {
      next = std::min(next, now() + clock_.step_towards(sleepers_.begin()->time));
    }
    static_cast<void>(news_.wait(Deadline::at(next)));
  }
}

// Queries the wanted partitions and those that are new to us. Returns false when some are left: the
// store is away, or a query has left more objects. The other partitions do not wait for those.
bool ReminderWatch::look() {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const auto partition = static_cast<Partition>(i);
    wanted_[i] = (is_here_(partition) && is_new(partition)) || wanted_[i];
  }
  bool has_all = true;
  bool is_away = false;  // The store.
  for (std::size_t count = 0; count < wanted_.size() && !is_away; ++count) {
    const Partition partition = next_partition_;
    if (!wanted_[partition] || !is_here_(partition) || !is_owned(partition)) {
      wanted_[partition] = false;
    } else if (const auto looked = look_at(partition)) {
      wanted_[partition] = !*looked;
    } else {
      log_.debug("reminders not read",
                 {{"partition", partition}, {"error", looked.error().to_string()}});
      is_away = looked.error().code() != Code::data_loss;
    }
    has_all = has_all && !wanted_[partition];
    next_partition_ = static_cast<Partition>((partition + 1) % wanted_.size());
  }
  return has_all;
}

// Also notes the loss of an ownership.
bool ReminderWatch::is_new(Partition partition) {
  bool is_new = false;
  for (Look& look : looks_) {
    const Ownership::Epoch epoch = look.ownership->epoch(partition);
    if (std::exchange(look.epochs[partition], epoch) != epoch && epoch != 0) is_new = true;
  }
  return is_new;
}

bool ReminderWatch::is_owned(Partition partition) const {
  return std::ranges::any_of(
      looks_, [partition](const Look& look) { return look.ownership->epoch(partition) != 0; });
}

// Returns whether the query has found all due objects. The next one asks for more when it has not:
// objects that stay due because they fail are found first each time.
Result<bool> ReminderWatch::look_at(Partition partition) {
  std::size_t& count_max = count_max_[partition];
  for (count_max = std::max(count_max, options_.due_count_max);; count_max *= 2) {
    auto found = store_.due(partition, clock_.now() + options_.horizon, count_max,
                            Deadline::after(look_time_max));
    if (!found) return found.error();
    // All of them are known, or belong to other nodes.
    if (add(partition, *found) == 0 && found->size() == count_max) continue;
    const bool has_all = found->size() < count_max;
    count_max = has_all ? 0 : count_max * 2;
    return has_all;
  }
}

// Returns the number of new sleepers.
std::size_t ReminderWatch::add(Partition partition, const std::vector<DueObject>& found) {
  std::size_t count = 0;
  for (const DueObject& object : found) {
    RemindedType* const type = type_of(object.type);
    if (type == nullptr) continue;
    // An earlier build had another affinity. Calls find the object in another partition, whose
    // shard may have it.
    if (type->partition_of(object.id) != partition) continue;
    if (type->ownership().epoch(partition) == 0) continue;
    if (sleepers_.insert({.time = object.wake_at, .type = type, .id = object.id}).second) ++count;
  }
  return count;
}

RemindedType* ReminderWatch::type_of(std::string_view name) const {
  const auto found = std::ranges::find(types_, name, &RemindedType::name);
  return found == types_.end() ? nullptr : *found;
}

// Returns false when cancelled.
bool ReminderWatch::wake_due() {
  while (!sleepers_.empty() && sleepers_.begin()->time <= clock_.now()) {
    Sleeper sleeper = std::move(sleepers_.extract(sleepers_.begin()).value());
    auto slot = slots_.hold(Deadline::never());
    if (!slot) return false;
    begin_waking(std::move(sleeper), *std::move(slot));
  }
  return !coroutine::is_cancelled();
}

void ReminderWatch::begin_waking(Sleeper sleeper, coroutine::Semaphore::Permit slot) {
  auto waking = [this, sleeper = std::move(sleeper), slot = std::move(slot)] {
    const auto& [time, type, id] = sleeper;
    const bool is_ours = type->ownership().epoch(type->partition_of(id)) != 0;
    const auto woken = is_ours ? wake_(*type, id) : Result<void>();
    if (woken || woken.error().code() == Code::cancelled) return;
    log_.warning("object not woken",
                 {{"type", type->name()}, {"id", id}, {"error", woken.error().to_string()}});
    // An error of the object itself is not retried at once: the next query finds it again.
    if (woken.error().code() == Code::unavailable) note(*type, id, clock_.now() + retry_interval);
  };
  // Without a stack the next query finds it again.
  static_cast<void>(tasks_.spawn("wake object", std::move(waking),
                                 {.purpose = coroutine::StackPool::Purpose::control}));
}

}  // namespace corolane::framework::detail
