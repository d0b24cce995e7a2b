// SPDX-License-Identifier: MIT
// A process with a task in every state, for gdb to inspect; it stops in all_in_place().
#include <chrono>
#include <cstdio>
#include <mutex>

#include "coroutine/async/async_group.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using coroutine::Event;
using coroutine::Mutex;
using coroutine::spawn;

volatile int steps = 0;

[[gnu::noinline]] void wait_for_the_bell(Event& bell, int depth) {
  if (depth > 0) {
    wait_for_the_bell(bell, depth - 1);
  } else {
    static_cast<void>(bell.wait(Deadline::never()));
  }
  steps = steps + 1;  // Keeps the call above from being a tail call.
}

[[gnu::noinline]] void sleep_for_an_hour() {
  static_cast<void>(coroutine::sleep_for(1h));
  steps = steps + 1;
}

[[gnu::noinline]] void take_the_lock(Mutex& mutex) {
  const std::scoped_lock lock(mutex);
  steps = steps + 1;
}

[[gnu::noinline]] void keep_yielding(const bool& is_done) {
  while (!is_done) static_cast<void>(coroutine::yield());
  steps = steps + 1;
}

}  // namespace

// The breakpoint of the test.
[[gnu::noinline]] void all_in_place() {
  steps = steps + 1;
  std::puts("all in place");
}

namespace {

coroutine::Async<void> hear_the_bell(Event& bell) {
  co_return co_await coroutine::until(bell.waiting(), Deadline::never());
}

coroutine::Async<void> doze() { co_return co_await coroutine::until(Deadline::after(1h)); }

[[gnu::noinline]] void run_zoo() {
  Event bell;
  coroutine::AsyncGroup mice;
  for (int number = 0; number < 5; ++number) mice.spawn(hear_the_bell(bell));
  mice.spawn(doze());
  Mutex mutex;
  bool is_done = false;
  std::unique_lock lock(mutex);
  auto waiter = spawn("waiter", [&] { wait_for_the_bell(bell, 3); });
  auto sleeper = spawn("sleeper", [] { sleep_for_an_hour(); });
  auto locker = spawn("locker", [&] { take_the_lock(mutex); });
  auto yielder = spawn("yielder", [&] { keep_yielding(is_done); });
  auto ended = spawn("ended", [] {});
  for (int turn = 0; turn < 3; ++turn) static_cast<void>(coroutine::yield());
  auto unborn = spawn("un\x1b[1mborn", [] { steps = steps + 1; });
  all_in_place();
  is_done = true;
  bell.set();
  mice.cancel();
  lock.unlock();
}

[[gnu::noinline]] void run_inside_a_task() {
  coroutine::VirtualTime time;
  coroutine::Scheduler scheduler(time);
  static_cast<void>(scheduler.run("keeper", [] { run_zoo(); }));
}

}  // namespace
}  // namespace corolane::test

int main() {
  corolane::coroutine::VirtualTime time;
  corolane::coroutine::Scheduler scheduler(time);
  return scheduler.run("outer", [] { corolane::test::run_inside_a_task(); }) ? 0 : 1;
}
