// SPDX-License-Identifier: MIT
// A scheduler for the length of one measurement.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/virtual_time.h"
#include "net/uv/event_loop.h"
#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// Runs `body`, which returns a Result, as the main task of a fresh scheduler on `source`.
template <std::invocable F>
auto run_in_task_on(coroutine::EventSource& source, const coroutine::Scheduler::Options& options,
                    F&& body) {
  using Outcome = std::invoke_result_t<F>;
  coroutine::Scheduler scheduler(source, options);
  std::optional<Outcome> outcome;
  const auto ran = scheduler.run("benchmark", [&] { outcome.emplace(body()); });
  return ran ? std::move(*outcome) : Outcome(ran.error());
}

// Runs `body` on a loop of libuv, as in production.
template <std::invocable F>
auto run_in_task(F&& body, const coroutine::Scheduler::Options& options = {}) {
  net::EventLoop loop;
  return run_in_task_on(loop, options, std::forward<F>(body));
}

template <std::invocable F>
auto run_in_virtual_time(F&& body) {
  coroutine::VirtualTime time;
  return run_in_task_on(time, {}, std::forward<F>(body));
}

}  // namespace corolane::bench
