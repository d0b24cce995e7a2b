// SPDX-License-Identifier: MIT
// The waits of a shard that are no calls of objects: for locks, and of tasks for anything else.
#pragma once

#include <cstddef>

#include "coroutine/base/clock.h"
#include "framework/node/inspection.pb.h"

namespace corolane::framework {

class Shard;

namespace detail {

// Adds the waits for locks that have lasted for `time_min`, `count_max` at most, and the calls for
// which their holders wait outside of objects. Suspends. Turns of objects are left out: waits_of()
// tells them.
void add_lock_waits(const Shard& shard, Duration time_min, std::size_t count_max,
                    WaitsReply& reply);

// Adds what the tasks and stackless coroutines of the shard wait for, grouped, the groups with the
// longest waits first, `count_max` at most. Suspends.
void add_task_waits(const Shard& shard, std::size_t count_max, WaitsReply& reply);

}  // namespace detail
}  // namespace corolane::framework
