// SPDX-License-Identifier: MIT
// A program with tasks and stackless coroutines: prints the result of each.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "coroutine/async/async.h"
#include "coroutine/async/async_group.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"

namespace {

using namespace corolane;
using namespace corolane::coroutine;
using namespace std::chrono_literals;

Async<int> one_later() {
  if (auto waited = co_await until(Deadline::after(1s)); !waited) co_return waited.error();
  co_return 1;
}

Async<int> one_at_once() { co_return 1; }

Async<void> add_later(int& sum) {
  if (auto one = co_await one_later()) sum += *one;
  co_return {};
}

Async<int> count(int number) {
  int sum = 0;
  for (int i = 0; i < number; ++i) sum += *co_await one_at_once();
  co_return sum;
}

void run() {
  auto task = spawn("task", [] { return yield() ? 1 : 0; });
  std::printf("task %d\n", task.join(Deadline::never()).value_or(-1));

  int sum = 0;
  AsyncGroup group;
  for (int i = 0; i < 3; ++i) group.spawn(add_later(sum));
  const auto joined = group.join(Deadline::after(1min));
  std::printf("group %s %d\n", joined ? "ok" : "late", sum);
  std::fflush(stdout);
  // A child that is never resumed would keep the group from ending.
  if (!joined) std::_Exit(1);

  std::printf("chain %d\n", await(count(1'000'000)).value_or(-1));
}

}  // namespace

int main() {
  VirtualTime time;
  Scheduler scheduler(time);
  return scheduler.run("main", run) ? 0 : 1;
}
