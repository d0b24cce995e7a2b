// SPDX-License-Identifier: MIT
// The shared main function of our server processes.
#pragma once

#include <concepts>

#include "net/descriptor_limit.h"
#include "net/uv/event_loop.h"
#include "tools/benchmarks/allocation_count.h"
#include "tools/benchmarks/network/server_process.h"
#include "tools/benchmarks/ours/run_in_task.h"

namespace corolane::bench {

// Runs `serve`, which returns a Result<void>, as the main task on a new loop. Only an error ends
// it.
template <std::invocable<net::EventLoop&> F>
Error serve_in_task(const Seat& seat, F serve, const coroutine::Scheduler::Options& options = {}) {
  count_allocations_in(seat.allocation_count);
  net::raise_descriptor_limit();
  net::EventLoop loop;
  const Result<void> served = run_in_task_on(loop, options, [&] { return serve(loop); });
  return served ? Error(Code::internal, "the server ended by itself") : served.error();
}

}  // namespace corolane::bench
