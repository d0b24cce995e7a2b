// SPDX-License-Identifier: MIT
#include "framework/node/detail/object_waits.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "framework/node/detail/task_objects.h"
#include "framework/node/detail/task_waits.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/wire/detail/method_name.h"

namespace corolane::framework::detail {
namespace {

using Stage = ObjectVisitor::Stage;

// More kinds of waits would not be read.
constexpr std::size_t task_group_count_max = 100;

// The innermost call that holds its turn: nothing waits for the others.
const CallChain::Link* inside_of(const CallChain::Link* link) {
  while (link != nullptr && !link->has_ended && link->is_outside) link = link->parent.get();
  return link;
}

ObjectWait wait_of(const ObjectVisitor& visitor, const ObjectCell& cell, const Shard& shard) {
  const ObjectVisitor::Facts& facts = visitor.facts();
  ObjectWait wait;
  const CallChain::Link* const caller = inside_of(facts.callers.get());
  if (caller != nullptr && !caller->has_ended) {
    wait.set_from_type(std::string(type_of(caller->method)));
    wait.set_from_id(caller->id);
  }
  wait.set_type(std::string(cell.type().name()));
  wait.set_id(cell.id());
  wait.set_method(std::string(facts.what));
  wait.set_is_running(visitor.stage() != Stage::waiting);
  const Duration age = shard.scheduler().turn_time() - facts.arrived_at;
  wait.set_milliseconds(static_cast<std::uint64_t>(std::max<std::int64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(age).count(), 0)));
  if (visitor.task() != 0) {
    wait.set_task(to_string(coroutine::TaskAddress{
        .scheduler = static_cast<std::uint32_t>(shard.index()), .id = visitor.task()}));
  }
  return wait;
}

// The calls of objects that have not ended.
void add_calls(const Shard& shard, std::size_t count_max, WaitsReply& reply) {
  for_each_visitor(shard, [&](const ObjectCell& cell, const ObjectVisitor& visitor) {
    // No call waits for work that an object does by itself.
    const std::string_view what = visitor.facts().what;
    if (visitor.stage() == Stage::leaving || !what.contains('/')) return;
    if (static_cast<std::size_t>(reply.waits_size()) >= count_max) {
      reply.set_left_out_count(reply.left_out_count() + 1);
    } else {
      *reply.add_waits() = wait_of(visitor, cell, shard);
    }
  });
}

// A call that waits for its turn, and the calls that wait for that one: they are in its chain.
void add_chain(const LongWaits::Wait& wait, const Shard& shard, WaitsReply& reply) {
  ObjectWait& last = *reply.add_waits();
  last = wait_of(wait.visitor, wait.cell, shard);
  // Without those that have given their turns away.
  const auto calls = calls_of(wait.visitor.facts().callers.get());
  last.set_from_type(calls.empty() ? std::string() : std::string(type_of(calls.back().method)));
  last.set_from_id(calls.empty() ? std::string() : std::string(calls.back().id));
  for (std::size_t i = 1; i < calls.size(); ++i) {
    ObjectWait& outer = *reply.add_waits();
    outer.set_from_type(std::string(type_of(calls[i - 1].method)));
    outer.set_from_id(std::string(calls[i - 1].id));
    outer.set_type(std::string(type_of(calls[i].method)));
    outer.set_id(std::string(calls[i].id));
    outer.set_method(std::string(calls[i].method));
    outer.set_is_running(true);
  }
}

// Suspends only for locks: the calls may end meanwhile.
void add_long_waits(const Shard& shard, Duration time_min, std::size_t count_max,
                    WaitsReply& reply) {
  const TimePoint time = shard.scheduler().turn_time();
  if (shard.host() != nullptr) {
    shard.host()->long_waits().for_each_while([&](const LongWaits::Wait& wait) {
      if (time - wait.since < time_min) return false;  // And so are the later ones.
      if (static_cast<std::size_t>(reply.waits_size()) >= count_max) return false;
      add_chain(wait, shard, reply);
      return true;
    });
  }
  add_lock_waits(shard, time_min, count_max, reply);
}

}  // namespace

WaitsReply waits_of(const Shard& shard, const WaitsRequest& request) {
  WaitsReply reply;
  const Duration time_min = std::chrono::milliseconds(request.milliseconds_min());
  if (time_min > Duration::zero()) {
    add_long_waits(shard, time_min, request.count_max(), reply);
    return reply;
  }
  add_calls(shard, request.count_max(), reply);
  if (request.calls_only()) return reply;
  add_lock_waits(shard, Duration::zero(), request.count_max(), reply);
  add_task_waits(shard, task_group_count_max, reply);
  return reply;
}

}  // namespace corolane::framework::detail
