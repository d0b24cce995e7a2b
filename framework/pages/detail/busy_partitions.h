// SPDX-License-Identifier: MIT
// The partitions of a node that compute most, for /objects.
#pragma once

#include <string>

#include "coroutine/base/result.h"
#include "framework/admin/json.h"

namespace corolane::framework {
class Node;
}

namespace corolane::framework::detail {

// A row for each of the ten that compute most, by type: null where CPU time is not measured.
// Suspends. Fails when a shard cannot be reached.
Result<Json> busy_partitions_json(Node& node);

// A table, or what there is to say without one.
std::string busy_partitions_text(const Json& rows);

}  // namespace corolane::framework::detail
