// What a server does that is asked for more than it can do.
#pragma once

#include <chrono>
#include <memory>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/open_loop.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// A server that runs on its core, what it can answer, and clients that will ask for more.
struct Overloaded {
  static Result<Overloaded> prepare(const Serve& serve);

  ServerProcess server;
  std::unique_ptr<OpenLoop> clients;
  double capacity;  // Calls of Echo/Burn per second.
};

// How long it is overloaded.
std::chrono::milliseconds overload_time();

// Of every call: what comes later is of no use to its caller.
inline constexpr std::chrono::milliseconds overload_deadline{100};
// How long recovery is waited for.
inline constexpr std::chrono::seconds recovery_max{10};

// First finds out how many calls of Echo/Burn per second the server can answer, then offers
// `factor` times as many: goodput, that is successes within their deadline, in percent of that
// capacity. The traffic has goodput and the latencies of all successes.
Measure goodput_under_overload(Serve serve, double factor);

// Ten times of capacity, then half of it: whole seconds that pass before one in which the server
// answers nine tenths of what it is asked; one more than recovery_max when there is none.
Measure recovery_from_overload(Serve serve);

}  // namespace corolane::bench
