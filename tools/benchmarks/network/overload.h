// SPDX-License-Identifier: MIT
// The behaviour of a server that receives more calls than it can answer.
#pragma once

#include <chrono>
#include <memory>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"
#include "tools/benchmarks/network/open_loop.h"
#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// The way of the calls. Refusing one costs a server about as much as a call of a raw server does:
// by frames less, since many come in one read, by HTTP more, since each has a read and an answer of
// its own. Each call burns the time of this many raw calls, which is measured first: on any machine
// the server may spend the same share of its time on refusals.
enum class Way : std::uint8_t { frames, http };
constexpr int raw_calls_per_burn(Way way) { return way == Way::frames ? 20 : 200; }

// A server on its core, its capacity, and clients that will exceed it.
struct Overloaded {
  static Result<Overloaded> prepare(const Serve& serve, Way way);

  ServerProcess server;
  std::unique_ptr<OpenLoop> clients;
  double capacity;  // Calls of Echo/Burn per second.
};

// The duration of an overload.
std::chrono::milliseconds overload_time();

// The deadline of every call: a later reply is of no use to its caller.
inline constexpr std::chrono::milliseconds overload_deadline{100};
// The longest wait for recovery.
inline constexpr std::chrono::seconds recovery_max{10};

// First finds how many calls of Echo/Burn per second the server can answer, then offers `factor`
// times as many. Measures goodput, the successes within their deadline, in percent of that
// capacity. The traffic has goodput and the latencies of all successes.
Measure goodput_under_overload(Serve serve, Way way, double factor);

// Offers ten times the capacity, then half of it. Measures the whole seconds before the first one
// in which the server answers nine tenths of its calls; one more than recovery_max when there is
// none.
Measure recovery_from_overload(Serve serve);

}  // namespace corolane::bench
