// SPDX-License-Identifier: MIT
// The life of a node, from its start to its stop.
#pragma once

#include <cstdint>
#include <functional>

#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "framework/node/detail/service_manager.h"
#include "framework/node/detail/stop_signal.h"
#include "framework/node/node.h"
#include "framework/node/reload.h"
#include "framework/run/detail/program.h"
#include "framework/telemetry/log.h"
#include "net/network.h"

namespace corolane::framework::detail {

// The exit status of a program.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;

// The resources that a node needs from its process.
struct Surroundings {
  net::Network& network;
  const Node::Parts& parts;
  // Suspends until a signal asks the node to stop.
  std::function<Result<StopSignal::Arrival>()> wait_for_signal;
  // Acts like such a signal. Does nothing in a replay, where the signal comes from the recording.
  std::function<void()> ask_to_stop = [] {};
  bool is_real = false;  // False when the node is recorded or replayed.
};

class Presence;

// Connects a signal with the node that it acts on.
struct Place {
  Presence* presence = nullptr;  // Null while there is no node.
  Reload::Options reload = {};
};

// Runs the node from start to stop, in a task, and returns the exit status. `descriptors` is the
// limit of the process.
int run_node(Program& program, std::uint64_t descriptors, Place& place,
             const Surroundings& surroundings, ServiceWishes wishes);

// Reloads the configuration of the node, if there is one. Called on the loop's stack.
void reload_soon(const Place& place);

void print_error(const Program& program, const Error& error);
// Call it before the first scheduler runs.
void report_crashes_of(const Program& program, Log& log);

}  // namespace corolane::framework::detail
