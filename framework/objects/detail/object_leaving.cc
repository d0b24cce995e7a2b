// SPDX-License-Identifier: MIT
// Objects leave their host because their partition moves, they are idle, or the node stops.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "coroutine/base/text.h"
#include "coroutine/sync/for_each.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/object_turn.h"
#include "framework/wire/detail/call_chain.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// How often the host looks for objects that are idle.
constexpr Duration look_interval = 1s;
// How often the store is asked to forget rows of each partition, and of how many at a time.
constexpr Duration forget_interval = 10min;
constexpr std::size_t forget_count_max = 100;
// The limit for storing a moving object; callers wait for it.
constexpr Duration release_save_time_max = 1s;
// The retry delay of a call that does not fit among those that wait for moving objects.
constexpr std::chrono::milliseconds moving_delay = 20ms;
// How long a cancelled hook may take to return before its object stays.
constexpr Duration hook_grace = 500ms;

}  // namespace

template <typename F>
Result<void> ObjectHost::for_each(const std::vector<ObjectCell*>& cells, F&& act) {
  Result<void> first_failure;
  // Keeps each cell until its turn is over.
  std::vector<std::unique_ptr<Visit>> visits;
  visits.reserve(cells.size());
  for (ObjectCell* const cell : cells) visits.push_back(std::make_unique<Visit>(*this, *cell));
  // An object that fails does not keep the others from leaving.
  const auto act_on = [&](std::unique_ptr<Visit>& visit) {
    auto done = act(*cells[static_cast<std::size_t>(&visit - visits.data())]);
    visit.reset();
    if (!done && first_failure) first_failure = done;
  };
  auto ran = coroutine::for_each(visits,
                                 {.concurrency = options_.concurrent_saves_max,
                                  .name = "object on its way",
                                  .task = {.purpose = coroutine::StackPool::Purpose::control}},
                                 act_on, Deadline::never());
  if (ran) return first_failure;
  // Without any stack, or when it is cancelled, this task does the rest alone.
  for (std::unique_ptr<Visit>& visit : visits) {
    if (visit != nullptr) act_on(visit);
  }
  return ran.error().code() == Code::resource_exhausted ? first_failure : ran;
}

// The objects of moving partitions on their way out.
struct ObjectHost::Leaving {
  std::vector<ObjectCell*> cells;
  std::map<const ObjectCell*, std::unique_ptr<Visit>> visits;
  std::multiset<Partition> under_way;
  std::set<Partition> kept;
  coroutine::Event ended{"objects that move"};
};

// A hook that ignores its cancellation keeps its own object, and no other one, so the objects leave
// in a task that this one waits for.
std::vector<Partition> ObjectHost::release(const Ownership& ownership,
                                           std::span<const Partition> partitions,
                                           Deadline deadline) {
  const auto leaving = std::make_shared<Leaving>();
  for (const Partition partition : partitions) {
    released_.emplace(&ownership, partition);
    for (const auto& type : types_) {
      if (&type->ownership() != &ownership) continue;
      std::ranges::copy(type->of_partition(partition), std::back_inserter(leaving->cells));
    }
  }
  if (leaving->cells.empty()) return {};
  for (ObjectCell* const cell : leaving->cells) {
    leaving->visits.emplace(cell, std::make_unique<Visit>(*this, *cell));
    leaving->under_way.insert(cell->partition());
  }
  auto spawned = housekeeping_.spawn("objects that move",
                                     [this, leaving, deadline] { let_go(*leaving, deadline); },
                                     {.purpose = coroutine::StackPool::Purpose::control});
  if (spawned) {
    constexpr Duration more = ObjectCell::last_hook_time_max + release_save_time_max + hook_grace;
    static_cast<void>(leaving->ended.wait(
        deadline.is_never() ? deadline : Deadline::after(deadline.remaining() + more)));
  } else {
    let_go(*leaving, deadline);
  }
  leaving->kept.insert(leaving->under_way.begin(), leaving->under_way.end());
  return {leaving->kept.begin(), leaving->kept.end()};
}

void ObjectHost::let_go(Leaving& leaving, Deadline deadline) {
  static_cast<void>(for_each(leaving.cells, [&](ObjectCell& cell) -> Result<void> {
    // The deadline limits the wait for the turn; storing has its own limit.
    if (!deactivate(cell, deadline, Deadline::after(release_save_time_max))) {
      leaving.kept.insert(cell.partition());
    }
    leaving.under_way.erase(leaving.under_way.find(cell.partition()));
    leaving.visits.erase(&cell);
    return {};
  }));
  leaving.ended.set();
}

// A moving object is inactive and must not be activated.
bool ObjectHost::is_on_the_move(const ObjectCell& cell) const {
  return !cell.is_active() && is_on_the_move(cell.type(), cell.partition());
}

bool ObjectHost::is_on_the_move(const HostedType& type, Partition partition) const {
  return released_.contains({&type.ownership(), partition});
}

// Waits until it is decided whether a moving partition stays ours.
Result<void> ObjectHost::wait_for_move(HostedType& type, const rpc::Context& context) {
  const Released moving{&type.ownership(), type.partition_of(context.object()->id)};
  if (!released_.contains(moving)) return {};
  if (auto may = check_may_wait_for_move(); !may) return may;
  if (waiting_for_move_count_ >= options_.moving_calls_max) {
    ++type.counts.refused_count;
    return Error(Code::resource_exhausted, "too many calls wait for moving objects")
        .with_retry_after(moving_delay)
        .with_origin(Origin::runtime);
  }
  ++waiting_for_move_count_;
  Result<void> waited;
  while (waited && released_.contains(moving)) waited = move_decided_.wait(context.deadline());
  --waiting_for_move_count_;
  return waited;
}

// The hand-over waits for the last hooks of its objects, so such a hook cannot wait for it.
Result<void> ObjectHost::check_may_wait_for_move() const {
  const CallChain* const chain = CallChain::current();
  if (chain == nullptr) return {};
  for (auto link = chain->link(); link != nullptr; link = link->parent) {
    const std::string_view method = link->method;
    const std::size_t slash = method.find('/');
    if (slash == method.npos || method.substr(slash + 1) != ObjectCell::last_hook) continue;
    const HostedType* const type = find_type(method.substr(0, slash));
    if (type == nullptr || !is_on_the_move(*type, type->partition_of(link->id))) continue;
    return Error(Code::unavailable,
                 link->method + "(" + quote(link->id) +
                     ") calls an object that is moving to another node together with its own");
  }
  return {};
}

void ObjectHost::resume(const Ownership& ownership, std::span<const Partition> partitions) {
  for (const Partition partition : partitions) {
    released_.erase({&ownership, partition});
    if (ownership.epoch(partition) != 0) continue;
    for (const auto& type : types_) {
      if (&type->ownership() != &ownership) continue;
      for (ObjectCell* const cell : type->of_partition(partition)) drop_soon(*cell);
    }
  }
  move_decided_.pulse();
}

void ObjectHost::drop_all() {
  const std::vector<ObjectCell*> cells = this->cells();
  released_.clear();
  move_decided_.pulse();
  static_cast<void>(for_each(cells, [this](ObjectCell& cell) {
    drop_stale(cell, Deadline::never());
    return Result<void>();
  }));
}

// Drops an object that may no longer serve, after its calls have ended; their replies are not sent.
// Returns false when they do not end in time.
bool ObjectHost::drop_stale(ObjectCell& cell, Deadline deadline) {
  const Visit visit(*this, cell);
  Turn turn(*this, cell, {.what = "to be dropped"});
  ObjectCell::Closing closing(cell);
  if (!cell.is_owned()) cell.cancel_handlers();
  if (!turn.take(/*is_shared=*/false, deadline)) return false;
  closing.has_turn();
  // A handler without its turn may be the caller of this very call.
  const bool is_alone = !cell.has_stale_object() || cell.wait_until_alone(deadline);
  if (is_alone && cell.has_stale_object()) {
    note_size(cell, 0);
    cell.drop();
    saver_.forget(cell);
  }
  return is_alone;
}

void ObjectHost::drop_soon(ObjectCell& cell) {
  auto spawned = housekeeping_.spawn("drop object",
                                     [this, &cell, visit = std::make_unique<Visit>(*this, cell)] {
                                       drop_stale(cell, Deadline::never());
                                     },
                                     {.purpose = coroutine::StackPool::Purpose::control});
  // Without a task it leaves at its next call, or when it is idle.
  static_cast<void>(spawned);
}

void ObjectHost::release_soon(ObjectCell& cell) {
  auto release = [this, &cell, visit = std::make_unique<Visit>(*this, cell)] {
    const Deadline deadline = Deadline::after(options_.save_time_max);
    Turn turn(*this, cell, {.what = "to release its seal"});
    if (turn.take(/*is_shared=*/false, deadline)) cell.release_abandoned_seal(deadline);
  };
  // Without a task the seal stays until the next activation.
  static_cast<void>(housekeeping_.spawn("release seal", std::move(release),
                                        {.purpose = coroutine::StackPool::Purpose::control}));
}

void ObjectHost::let_idle_go() {
  while (coroutine::sleep_for(look_interval)) {
    for (const auto& type : types_) {
      // Objects that cannot be stored stay, at the end of the list.
      std::size_t look_count = type->by_use.size();
      while (true) {
        const auto going = take_idle(*type, look_count);
        if (going.empty()) break;
        let_leave(going);
      }
    }
  }
}

// Returns when all have left, or have had the time for it: a hook that ignores its cancellation
// keeps its own object, and no other one.
void ObjectHost::let_leave(const std::vector<ObjectCell*>& going) {
  struct Batch {
    std::size_t count;
    coroutine::Event left{"idle objects that leave"};
  };
  const auto batch = std::make_shared<Batch>(going.size());
  for (ObjectCell* const cell : going) {
    auto leave = [this, cell, batch, visit = std::make_shared<QuietVisit>(*this, *cell)] {
      const Deadline deadline = Deadline::after(options_.save_time_max);
      if (cell->is_idle()) static_cast<void>(deactivate(*cell, deadline, deadline));
      if (--batch->count == 0) batch->left.set();
    };
    auto spawned = housekeeping_.spawn("idle object", leave,
                                       {.purpose = coroutine::StackPool::Purpose::control});
    // Without a stack for it, this task does it.
    if (!spawned) leave();
  }
  constexpr Duration hook_time_max = ObjectCell::last_hook_time_max + hook_grace;
  static_cast<void>(batch->left.wait(Deadline::after(2 * options_.save_time_max + hook_time_max)));
}

// One partition at a time, so that the store hardly notices.
void ObjectHost::forget_rows() {
  std::size_t count = partition_count_min;
  for (const auto& type : types_) count = type->ownership().partition_count();
  for (std::size_t i = 0;; i = (i + 1) % count) {
    if (!coroutine::sleep_for(forget_interval / count)) return;
    const auto partition = static_cast<Partition>(i);
    if (!is_owned_here(partition)) continue;
    for (bool has_more = true; has_more;) {
      const auto forgotten =
          surroundings_.store.forget(partition, surroundings_.clock.now(), forget_count_max,
                                     Deadline::after(options_.save_time_max));
      has_more = forgotten && *forgotten == forget_count_max;
    }
  }
}

bool ObjectHost::is_owned_here(Partition partition) const {
  const auto owns = [partition](const auto& type) {
    return type->ownership().epoch(partition) != 0;
  };
  return surroundings_.owners.is_here(partition) && std::ranges::any_of(types_, owns);
}

void ObjectHost::deactivate_soon(ObjectCell& cell) {
  auto leave = [this, &cell, visit = std::make_unique<QuietVisit>(*this, cell)] {
    if (!cell.is_active()) return;
    if (cell.visitor_count > 0) return cell.leave_soon();
    const Deadline deadline = Deadline::after(options_.save_time_max);
    static_cast<void>(deactivate(cell, deadline, deadline));
  };
  // Without a task it stays until it is idle.
  static_cast<void>(housekeeping_.spawn("deactivate object", std::move(leave),
                                        {.purpose = coroutine::StackPool::Purpose::control}));
}

// Takes some idle cells from the first `look_count` of the type's list, the least recently used;
// decrements `look_count` by the number of cells seen.
std::vector<ObjectCell*> ObjectHost::take_idle(HostedType& type, std::size_t& look_count) {
  std::vector<ObjectCell*> going;
  std::size_t going_bytes = 0;
  for (; look_count > 0 && going.size() < options_.concurrent_saves_max; --look_count) {
    ObjectCell& cell = *type.by_use.front();
    const bool may_go = cell.is_idle();
    const bool is_time = now() - cell.used_at >= idle_time_max(type) ||
                         memory_bytes_ > options_.memory_bytes_max + going_bytes;
    if (may_go && !is_time) {
      look_count = 0;  // All later cells were used more recently.
      break;
    }
    type.by_use.splice(type.by_use.end(), type.by_use, cell.place);
    if (!may_go) continue;
    if (cell.is_followed()) {
      const Visit visit(*this, cell);  // A subscription counts as use.
    } else {
      going.push_back(&cell);
      going_bytes += cell.size_bytes();
    }
  }
  return going;
}

Result<void> ObjectHost::deactivate(ObjectCell& cell, Deadline turn_by, Deadline stored_by,
                                    bool releases) {
  const Visit visit(*this, cell);
  Turn turn(*this, cell, {.what = "to be deactivated"});
  ObjectCell::Closing closing(cell);
  if (!turn.take(/*is_shared=*/false, turn_by)) {
    return Error(Code::deadline_exceeded, "calls of \"" + cell.id() + "\" did not end in time");
  }
  closing.has_turn();
  const bool was_active = cell.is_active();
  note_size(cell, 0);
  auto deactivated = was_active ? cell.deactivate(stored_by, releases) : Result<void>();
  note_size(cell, cell.size_bytes());
  if (was_active && deactivated) ++cell.type().counts.deactivation_count;
  return deactivated;
}

Result<void> ObjectHost::stop(Deadline deadline) {
  reminders_.stop();
  const Deadline half = deadline.is_never() ? deadline : Deadline::after(deadline.remaining() / 2);
  alarms_.stop(half);
  static_cast<void>(followers_.join(half));
  followers_.cancel_and_join();
  housekeeping_.cancel_and_join();
  saver_.stop();
  std::vector<ObjectCell*> idle;
  std::ranges::copy_if(cells(), std::back_inserter(idle), &ObjectCell::is_idle);
  // The remaining time is for storing.
  return for_each(idle, [this, deadline](ObjectCell& cell) {
    return deactivate(cell, deadline, deadline, /*releases=*/false);
  });
}

}  // namespace corolane::framework::detail
