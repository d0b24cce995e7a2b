// SPDX-License-Identifier: MIT
// Which object a task works for.
#pragma once

#include <functional>
#include <optional>

#include "coroutine/task_info.h"
#include "framework/node/detail/object_chain.h"

namespace corolane::framework {

class Shard;

namespace detail {

class ObjectCell;
class ObjectVisitor;

// Visits the calls that are in the shard's objects, and other work of these. Suspends between
// objects, so what comes or goes meanwhile may be left out.
void for_each_visitor(
    const Shard& shard,
    const std::function<void(const ObjectCell& cell, const ObjectVisitor& visitor)>& visit);

// The object whose call or other work the task runs; of calls that run within one another in one
// task, the innermost. Suspends, as for_each_visitor() does.
std::optional<ChainObject> object_of_task(const Shard& shard, coroutine::TaskId task);

// Whether the task waits for a call of another object that it makes from this one.
bool calls_out_itself(const ObjectVisitor& visitor);

}  // namespace detail
}  // namespace corolane::framework
