// SPDX-License-Identifier: MIT
// A task calls a function on the scheduler of another thread, both on loops of libuv.
#include "coroutine/call_on.h"

#include <future>
#include <thread>

#include "coroutine/base/check.h"
#include "coroutine/sync/event.h"
#include "tools/benchmarks/ours/ours.h"
#include "tools/benchmarks/ours/run_in_task.h"
#include "tools/benchmarks/process.h"

namespace corolane::bench {
namespace {

using coroutine::Scheduler;

Result<Measurement> time_calls(Scheduler& there) {
  return time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    watch.start();
    for (std::size_t index = 0; index < op_count; ++index) {
      auto answer = coroutine::call_on(there, "answer", [] { return 1; }, Deadline::never());
      if (!answer) return answer.error();
    }
    watch.stop();
    return op_count;
  });
}

}  // namespace

Result<Measurement> our_call_on() {
  std::promise<Scheduler*> began;
  coroutine::Event stop;
  std::jthread partner([&] {
    pin_to(Core::generator);
    const auto ran = run_in_task([&]() -> Result<void> {
      began.set_value(&Scheduler::current());
      return stop.wait(Deadline::never());
    });
    check(ran.has_value(), "the other scheduler runs");
  });
  Scheduler& there = *began.get_future().get();
  auto measured = run_in_task([&] { return time_calls(there); });
  there.post([&] { stop.set(); });
  return measured;
}

}  // namespace corolane::bench
