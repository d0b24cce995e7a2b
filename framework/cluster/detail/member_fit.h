// SPDX-License-Identifier: MIT
// Whether two nodes find objects in the same places: otherwise an object has two owners.
#pragma once

#include "coroutine/base/result.h"
#include "framework/cluster/cluster_view.h"

namespace corolane::framework::detail {

// Fails with failed_precondition when the objects of both are in different numbers of partitions,
// or a type that both host has another placement or affinity.
Result<void> check_fits(const Member& self, const Member& other);

}  // namespace corolane::framework::detail
