// SPDX-License-Identifier: MIT
// Checks the constraints between the values of a configuration.
#pragma once

#include "config/origins.h"
#include "coroutine/base/result.h"

namespace corolane::config::detail {

class Value;

// Checks all rules of the struct `root`. Fails as a load does, with a line for each broken rule.
Result<void> check_rules(Value& root, const Origins& origins);

}  // namespace corolane::config::detail
