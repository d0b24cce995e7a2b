// SPDX-License-Identifier: MIT
// Tasks wait for one another: by joining, over channels, and for a stackless child.
#include <cstdint>

#include "coroutine/base/check.h"
#include "coroutine/sync/channel.h"
#include "coroutine/task.h"
#include "tools/benchmarks/ours/functions.h"
#include "tools/benchmarks/ours/run_in_task.h"

#if __has_include("coroutine/async/async.h")
#include "coroutine/async/async.h"
#endif

namespace corolane::bench {
namespace {

using coroutine::Channel;

template <typename F>
Result<Measurement> time_in_task(F&& operation) {
  return time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    watch.start();
    for (std::size_t index = 0; index < op_count; ++index) {
      if (auto done = operation(); !done) return done.error();
    }
    watch.stop();
    return op_count;
  });
}

Result<void> spawn_and_join() {
  auto value = coroutine::spawn("child", [] { return 1; }).join(Deadline::never());
  if (!value) return value.error();
  check(*value == 1, "the child ran");
  return {};
}

Result<Measurement> time_pingpong() {
  Channel<int> there(1);
  Channel<int> back(1);
  auto partner = coroutine::spawn("partner", [&]() -> Result<void> {
    while (auto value = there.receive(Deadline::never())) {
      if (auto sent = back.send(*value + 1, Deadline::never()); !sent) return sent;
    }
    return {};
  });
  auto measured = time_in_task([&]() -> Result<void> {
    if (auto sent = there.send(1, Deadline::never()); !sent) return sent;
    auto value = back.receive(Deadline::never());
    if (!value) return value.error();
    check(*value == 2, "the partner answered");
    return {};
  });
  there.close();
  if (auto joined = partner.join(Deadline::never()); !joined) return joined.error();
  return measured;
}

// The only place that needs coroutine/async/async.h.
#if __has_include("coroutine/async/async.h")
coroutine::Async<int> give_one() { co_return 1; }

Result<void> await_child() {
  Result<int> value = coroutine::await(give_one());
  if (!value) return value.error();
  check(*value == 1, "the child ran");
  return {};
}
#else
Result<void> await_child() {
  return Error(Code::unimplemented, "this tree has no coroutine/async/async.h");
}
#endif

}  // namespace

Result<Measurement> our_spawn_join() {
  return run_in_task([] { return time_in_task(spawn_and_join); });
}

Result<Measurement> our_pingpong() { return run_in_task(time_pingpong); }

Result<Measurement> our_await() {
  return run_in_task([] { return time_in_task(await_child); });
}

}  // namespace corolane::bench
