// SPDX-License-Identifier: MIT
// POST /drain: the graceful shutdown of a process, without a signal.
#pragma once

#include <functional>

#include "framework/node/node.h"

namespace corolane::framework {

// Adds the action for a process that runs only `node`: `ask_to_stop` does what SIGTERM does. `node`
// outlives its pages.
void add_drain_action(Node& node, std::function<void()> ask_to_stop);

}  // namespace corolane::framework
