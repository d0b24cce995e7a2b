// What the values of a configuration have to be to one another.
#pragma once

#include "config/origins.h"
#include "coroutine/base/result.h"

namespace corolane::config::detail {

class Value;

// Asks all rules of the struct `root`. Fails as a load does, with a line for each that is broken.
Result<void> check_rules(Value& root, const Origins& origins);

}  // namespace corolane::config::detail
