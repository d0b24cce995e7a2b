// SPDX-License-Identifier: MIT
// ucontext of the C library, driven by a loop as in fcontext.cc: swapcontext there and back. Each
// switch saves the signal mask by a system call.
#include <ucontext.h>

#include <cstdint>
#include <vector>

#include "coroutine/base/check.h"
#include "tools/benchmarks/order.h"
#include "tools/benchmarks/peers/lifo_stacks.h"
#include "tools/benchmarks/peers/peer.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

// Global state of the coroutines: makecontext passes only integers.
ucontext_t loop_context;
ucontext_t* running = nullptr;
std::uint64_t step_count = 0;

void count_and_suspend_for_ever() {
  for (;;) {
    ++step_count;
    swapcontext(running, &loop_context);
  }
}

void count_and_end() { ++step_count; }

void prepare(ucontext_t& context, std::byte* top, std::size_t size_bytes, void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = top - size_bytes;
  context.uc_stack.ss_size = size_bytes;
  context.uc_link = &loop_context;
  makecontext(&context, entry, 0);
}

class Coroutines {
 public:
  explicit Coroutines(std::size_t count) : contexts_(count), tops_(count) {}

  Result<void> make(LifoStacks& stacks, void (*entry)()) {
    for (std::size_t index = 0; index < contexts_.size(); ++index) {
      const auto top = stacks.acquire();
      if (!top) return top.error();
      tops_[index] = *top;
      prepare(contexts_[index], *top, stacks.usable_size_bytes(), entry);
    }
    return {};
  }

  void enter(std::size_t index) {
    running = &contexts_[index];
    swapcontext(&loop_context, running);
  }

  std::size_t count() const { return contexts_.size(); }
  std::byte* top(std::size_t index) const { return tops_[index]; }

 private:
  std::vector<ucontext_t> contexts_;
  std::vector<std::byte*> tops_;
};

Result<Measurement> yield(Ring ring) {
  LifoStacks stacks({.stack_size_bytes = ring.stack_size_bytes});
  Coroutines coroutines(ring.count);
  if (auto made = coroutines.make(stacks, count_and_suspend_for_ever); !made) return made.error();
  const std::vector<std::size_t> turns = turn_order(ring.count, ring.random);
  std::uint64_t expected_step_count = 0;
  const auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) {
    const std::size_t pass_count = (op_count + ring.count - 1) / ring.count;
    watch.start();
    for (std::size_t pass = 0; pass < pass_count; ++pass) {
      for (const std::size_t turn : turns) coroutines.enter(turn);
    }
    watch.stop();
    expected_step_count += pass_count * ring.count;
    return pass_count * ring.count;
  });
  check(step_count == expected_step_count, "every step was taken");
  return measured;
}

Result<void> create_enter_recycle(Coroutines& coroutines, LifoStacks& stacks) {
  if (auto made = coroutines.make(stacks, count_and_end); !made) return made;
  for (std::size_t index = 0; index < coroutines.count(); ++index) {
    coroutines.enter(index);
    stacks.release(coroutines.top(index));
  }
  return {};
}

Result<Measurement> create_cold(std::size_t count) {
  Coroutines coroutines(count);
  return time_batches([&](Stopwatch& watch, std::size_t) -> Result<std::size_t> {
    LifoStacks stacks({});
    watch.start();
    const auto created = create_enter_recycle(coroutines, stacks);
    watch.stop();
    if (!created) return created.error();
    return count;
  });
}

Result<Measurement> create_warm(std::size_t count) {
  Coroutines coroutines(count);
  LifoStacks stacks({});
  return time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    std::size_t performed_count = 0;
    watch.start();
    for (; performed_count < op_count; performed_count += count) {
      if (auto created = create_enter_recycle(coroutines, stacks); !created) return created.error();
    }
    watch.stop();
    return performed_count;
  });
}

Result<Measurement> create(std::size_t count, Warmth warmth) {
  return warmth == Warmth::cold ? create_cold(count) : create_warm(count);
}

Result<Measurement> memory(std::size_t count) {
  if (auto enough = need_free_memory(count, 6'000); !enough) return enough.error();
  const std::size_t bytes_before = resident_bytes();
  LifoStacks stacks({});
  Coroutines coroutines(count);
  if (auto made = coroutines.make(stacks, count_and_suspend_for_ever); !made) return made.error();
  for (std::size_t index = 0; index < count; ++index) coroutines.enter(index);
  return bytes_each(bytes_before, count);
}

}  // namespace

constexpr Peer ucontext_peer = {
    .name = "ucontext", .yield = yield, .create = create, .memory = memory};

}  // namespace corolane::bench
