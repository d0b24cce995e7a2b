// SPDX-License-Identifier: MIT
// Uses tasks, an event, stackless coroutines and floating point in virtual time, and prints the
// results. With the argument "locked" a task suspends with a std::mutex, with "freed" it reads what
// another task has freed.
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "coroutine/async/async.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "coroutine/virtual_time.h"

namespace {

using namespace corolane;
using namespace corolane::coroutine;
using namespace std::chrono_literals;

// Values that the compiler keeps in registers across the switch.
double sum_over_yield(const std::vector<double>& numbers) {
  const double product = numbers[0] * numbers[1];
  const double quotient = numbers[2] / numbers[3];
  if (!yield()) return 0;
  return product + quotient;
}

Async<int> nested(int depth) {
  if (depth == 0) {
    if (auto waited = co_await until(Deadline::after(1s)); !waited) co_return waited.error();
    co_return 0;
  }
  auto below = co_await nested(depth - 1);
  if (!below) co_return below.error();
  co_return *below + 1;
}

void use_everything() {
  TaskGroup group;
  std::vector<double> sums(8);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto sum = [&sums, i] {
      const double x = static_cast<double>(i);
      sums[i] = sum_over_yield({x, x, 3, 2});
      return Result<void>();
    };
    if (!group.spawn("sum", sum)) return;
  }
  if (!group.join(Deadline::never())) return;
  double total = 0;
  for (const double sum : sums) total += sum;
  std::printf("sums %.1f\n", total);

  Event event;
  auto waiter = spawn("waiter", [&] { return event.wait(Deadline::after(1min)) ? 1 : 0; });
  auto setter = spawn("setter", [&] {
    if (sleep_for(1s)) event.set();
  });
  std::printf("event %d\n", waiter.join(Deadline::never()).value_or(-1));
  static_cast<void>(setter.join(Deadline::never()));

  std::printf("nested %d\n", await(nested(100)).value_or(-1));
}

void suspend_with_a_lock() {
  std::mutex mutex;
  const std::scoped_lock lock(mutex);
  static_cast<void>(yield());
}

void read_what_is_freed() {
  auto number = std::make_unique<int>(1);
  const int* const seen = number.get();
  auto other = spawn("other", [&] { number.reset(); });
  static_cast<void>(other.join(Deadline::never()));
  std::printf("freed %d\n", *seen);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  VirtualTime time;
  Scheduler scheduler(time);
  const auto ran = scheduler.run("main", [&] {
    auto holder = spawn("holder", [&] {
      if (mode == "locked") return suspend_with_a_lock();
      if (mode == "freed") return read_what_is_freed();
      use_everything();
    });
    static_cast<void>(holder.join(Deadline::never()));
  });
  return ran ? 0 : 1;
}
