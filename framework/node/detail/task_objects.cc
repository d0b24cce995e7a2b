// SPDX-License-Identifier: MIT
#include "framework/node/detail/task_objects.h"

#include <cstddef>
#include <string>
#include <vector>

#include "coroutine/task.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_host.h"

namespace corolane::framework::detail {
namespace {

using Stage = ObjectVisitor::Stage;

// Yields after this many objects.
constexpr std::size_t objects_between_yields = 500;

}  // namespace

void for_each_visitor(
    const Shard& shard,
    const std::function<void(const ObjectCell& cell, const ObjectVisitor& visitor)>& visit) {
  if (shard.host() == nullptr) return;
  std::size_t seen_count = 0;
  for (const auto& type : shard.host()->types()) {
    // Objects come and go during a yield, so each is looked up by its id.
    std::vector<std::string> ids;
    type->for_each([&](const ObjectCell& cell) {
      if (cell.visitors() != nullptr) ids.push_back(cell.id());
    });
    for (const std::string& id : ids) {
      const ObjectCell* const cell = type->find(id);
      const auto* visitor = cell == nullptr ? nullptr : cell->visitors();
      for (; visitor != nullptr; visitor = visitor->next()) visit(*cell, *visitor);
      if (++seen_count % objects_between_yields == 0) static_cast<void>(coroutine::yield());
    }
  }
}

bool calls_out_itself(const ObjectVisitor& visitor) {
  for (const auto* call = visitor.out_calls(); call != nullptr; call = call->next()) {
    if (call->task() == visitor.task()) return true;
  }
  return false;
}

std::optional<ChainObject> object_of_task(const Shard& shard, coroutine::TaskId task) {
  std::optional<ChainObject> object;
  bool calls_out = false;
  for_each_visitor(shard, [&](const ObjectCell& cell, const ObjectVisitor& visitor) {
    const bool has_turn = visitor.stage() == Stage::inside || visitor.stage() == Stage::outside;
    if (visitor.task() != task || !has_turn) return;
    // The callee may still wait for its turn.
    const bool this_calls_out = calls_out_itself(visitor);
    if (object && this_calls_out && !calls_out) return;
    object = {.type = std::string(cell.type().name()), .id = cell.id()};
    calls_out = this_calls_out;
  });
  return object;
}

}  // namespace corolane::framework::detail
