// SPDX-License-Identifier: MIT
#include "framework/node/detail/task_waits.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/stackless_info.h"
#include "coroutine/task.h"
#include "coroutine/task_walk.h"
#include "framework/node/detail/site_text.h"
#include "framework/node/detail/task_objects.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/object_router.h"

namespace corolane::framework::detail {
namespace {

constexpr std::size_t tasks_per_part = 1'000;

std::uint64_t milliseconds_of(Duration time) {
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
}

std::string address_text(const Shard& shard, coroutine::TaskId task) {
  return to_string(
      coroutine::TaskAddress{.scheduler = static_cast<std::uint32_t>(shard.index()), .id = task});
}

using Parties = std::map<coroutine::TaskId, WaitParty>;

// The calls that an object makes without its turn: nothing waits for them but what it holds.
void add_outside_calls(const ObjectCell& cell, const ObjectVisitor& visitor, WaitsReply& reply) {
  for (const auto* call = visitor.out_calls(); call != nullptr; call = call->next()) {
    if (call->task() != visitor.task()) continue;
    ObjectWait& wait = *reply.add_waits();
    wait.set_from_type(std::string(cell.type().name()));
    wait.set_from_id(cell.id());
    wait.set_type(std::string(call->type()));
    wait.set_id(std::string(call->id()));
    wait.set_method(std::string(call->method().full_name));
    wait.set_is_running(true);
  }
}

// The objects for which tasks work, for those that `parties` has.
void find_objects(const Shard& shard, Parties& parties, WaitsReply& reply) {
  for_each_visitor(shard, [&](const ObjectCell& cell, const ObjectVisitor& visitor) {
    const auto party = parties.find(visitor.task());
    const bool has_turn = visitor.stage() == ObjectVisitor::Stage::inside ||
                          visitor.stage() == ObjectVisitor::Stage::outside;
    if (party == parties.end() || !has_turn) return;
    if (visitor.stage() == ObjectVisitor::Stage::outside) add_outside_calls(cell, visitor, reply);
    // The innermost of several; the callee may still wait for its turn.
    if (!party->second.type().empty() && calls_out_itself(visitor)) return;
    party->second.set_type(std::string(cell.type().name()));
    party->second.set_id(cell.id());
  });
}

// The calls that holders of locks make outside of objects.
void add_holder_calls(const Shard& shard, const Parties& parties, WaitsReply& reply) {
  const auto* call = shard.object_router().calls_of_tasks();
  for (; call != nullptr; call = call->next()) {
    const auto party = parties.find(call->task());
    if (party == parties.end() || !party->second.type().empty()) continue;
    ObjectWait& wait = *reply.add_waits();
    wait.set_from_task(party->second.task());
    wait.set_from_task_name(party->second.task_name());
    wait.set_type(std::string(call->type()));
    wait.set_id(std::string(call->id()));
    wait.set_method(std::string(call->method().full_name));
    wait.set_is_running(true);
  }
}

}  // namespace

void add_lock_waits(const Shard& shard, Duration time_min, std::size_t count_max,
                    WaitsReply& reply) {
  const auto waits = shard.scheduler().lock_waits(
      {.count_max = count_max, .time_min = time_min, .left_out = ObjectCell::turn_name});
  if (waits.empty()) return;
  Parties parties;
  for (const coroutine::TaskInfo& task : waits) {
    WaitParty& waiting = parties[task.id];
    waiting.set_task(address_text(shard, task.id));
    waiting.set_task_name(task.name);
    const coroutine::TaskId id = task.awaited->holder;
    if (id == 0) continue;
    WaitParty& holder = parties[id];
    holder.set_task(address_text(shard, id));
    holder.set_task_name(task.awaited->holder_name);
  }
  find_objects(shard, parties, reply);
  for (const coroutine::TaskInfo& task : waits) {
    LockWait& lock = *reply.add_locks();
    *lock.mutable_waiting() = parties[task.id];
    if (task.awaited->holder != 0) *lock.mutable_holder() = parties[task.awaited->holder];
    lock.set_lock(task.waiting_for);
    lock.set_made_at(site_text(task.awaited->site));
    lock.set_milliseconds(milliseconds_of(task.in_state));
  }
  add_holder_calls(shard, parties, reply);
}

void add_task_waits(const Shard& shard, std::size_t count_max, WaitsReply& reply) {
  std::map<std::pair<std::string, std::string>, TaskWaits> groups;
  coroutine::TaskWalk walk(shard.scheduler());
  do {
    for (const coroutine::TaskInfo& task : walk.next({.count_max = tasks_per_part})) {
      if (task.waiting_for.empty()) continue;
      std::string made_at = task.awaited ? site_text(task.awaited->site) : std::string();
      TaskWaits& group = groups[{task.waiting_for, made_at}];
      group.set_count(group.count() + 1);
      const std::uint64_t milliseconds = milliseconds_of(task.in_state);
      if (group.count() > 1 && milliseconds <= group.milliseconds_max()) continue;
      group.set_what(task.waiting_for);
      group.set_made_at(std::move(made_at));
      group.set_milliseconds_max(milliseconds);
      group.set_task_name(task.name);
    }
  } while (!walk.is_over() && coroutine::yield());
  std::vector<TaskWaits> all;
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  for (const coroutine::StacklessWait& wait : shard.scheduler().stackless().waits) {
    if (wait.waiting_for.empty()) continue;
    TaskWaits& group = all.emplace_back();
    group.set_what(wait.waiting_for);
    group.set_count(static_cast<std::uint32_t>(wait.count));
    group.set_milliseconds_max(milliseconds_of(wait.longest));
    group.set_task_name("group made at " + site_text(wait.site));
    group.set_is_stackless(true);
  }
  std::ranges::stable_sort(all, std::greater{},
                           [](const TaskWaits& group) { return group.milliseconds_max(); });
  if (all.size() > count_max) all.resize(count_max);
  for (TaskWaits& group : all) *reply.add_tasks() = std::move(group);
}

}  // namespace corolane::framework::detail
