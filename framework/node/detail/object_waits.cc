// SPDX-License-Identifier: MIT
#include "framework/node/detail/object_waits.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/wire/detail/method_name.h"

namespace corolane::framework::detail {
namespace {

using Stage = ObjectVisitor::Stage;

// Yields after this many objects.
constexpr std::size_t objects_between_yields = 500;

ObjectWait wait_of(const ObjectVisitor& visitor, const ObjectCell& cell, const Shard& shard) {
  const ObjectVisitor::Facts& facts = visitor.facts();
  ObjectWait wait;
  const CallChain::Link* const caller = facts.callers.get();
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

void add_waits(const ObjectCell& cell, const Shard& shard, std::size_t count_max,
               WaitsReply& reply) {
  for (const auto* visitor = cell.visitors(); visitor != nullptr; visitor = visitor->next()) {
    // No call waits for work that an object does by itself.
    const std::string_view what = visitor->facts().what;
    if (visitor->stage() == Stage::leaving || !what.contains('/')) continue;
    if (static_cast<std::size_t>(reply.waits_size()) >= count_max) {
      reply.set_left_out_count(reply.left_out_count() + 1);
    } else {
      *reply.add_waits() = wait_of(*visitor, cell, shard);
    }
  }
}

}  // namespace

WaitsReply waits_of(const Shard& shard, std::size_t count_max) {
  WaitsReply reply;
  if (shard.host() == nullptr) return reply;
  std::size_t seen_count = 0;
  for (const auto& type : shard.host()->types()) {
    // Objects come and go during a yield, so each is looked up by its id.
    std::vector<std::string> ids;
    type->for_each([&](const ObjectCell& cell) {
      if (cell.visitors() != nullptr) ids.push_back(cell.id());
    });
    for (const std::string& id : ids) {
      if (const ObjectCell* const cell = type->find(id)) add_waits(*cell, shard, count_max, reply);
      if (++seen_count % objects_between_yields == 0) static_cast<void>(coroutine::yield());
    }
  }
  return reply;
}

}  // namespace corolane::framework::detail
