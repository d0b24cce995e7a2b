// SPDX-License-Identifier: MIT
// Raw fcontext of Boost.Context, driven by a loop: the loop enters a coroutine, and the coroutine
// suspends back into the loop, which takes two jumps. It has no scheduler, no exceptions, no
// statistics.
//
// `fcontext` is the obvious version. `fcontext_tuned`, with coloured tops and a loop that
// prefetches the next contexts, is the limit of most bars. `fcontext_direct` has no loop: the
// suspending coroutine jumps into the next one, with one jump per step. No switch by fcontext can
// be faster.
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "tools/benchmarks/order.h"
#include "tools/benchmarks/peers/lifo_stacks.h"
#include "tools/benchmarks/peers/peer.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// The fastest of 0 to 16 with 30,000 coroutines, in both orders.
constexpr std::size_t prefetch_lead = 8;

void count_and_suspend_for_ever(transfer_t from) {
  auto& step_count = *static_cast<std::uint64_t*>(from.data);
  for (;;) {
    ++step_count;
    from = jump_fcontext(from.fctx, from.data);
  }
}

void count_and_end(transfer_t from) {
  ++*static_cast<std::uint64_t*>(from.data);
  jump_fcontext(from.fctx, nullptr);
}

// Enters each coroutine once.
template <bool tuned>
void pass_through(std::vector<fcontext_t>& contexts, std::size_t count, std::uint64_t& step_count) {
  for (std::size_t index = 0; index < count; ++index) {
    if constexpr (tuned) __builtin_prefetch(contexts[index + prefetch_lead]);
    contexts[index] = jump_fcontext(contexts[index], &step_count).fctx;
  }
}

// Coroutines with their stacks: all are created together.
class Coroutines {
 public:
  explicit Coroutines(std::size_t count) {
    tops_.reserve(count);
    contexts.reserve(count + prefetch_lead);
  }

  // Takes a stack for each coroutine, in order of creation; none is entered yet.
  Result<void> make(LifoStacks& stacks, std::size_t count, void (*entry)(transfer_t)) {
    tops_.clear();
    contexts.clear();
    for (std::size_t index = 0; index < count; ++index) {
      const auto top = stacks.acquire();
      if (!top) return top.error();
      tops_.push_back(*top);
      contexts.push_back(make_fcontext(*top, stacks.usable_size_bytes(), entry));
    }
    contexts.resize(count + prefetch_lead, contexts.front());
    return {};
  }

  void order(const std::vector<std::size_t>& turns) {
    const std::vector<fcontext_t> created = contexts;
    for (std::size_t index = 0; index < turns.size(); ++index) {
      contexts[index] = created[turns[index]];
    }
  }

  std::byte* top(std::size_t index) const { return tops_[index]; }

  std::vector<fcontext_t> contexts;  // In the order of turns, with spare entries to prefetch.

 private:
  std::vector<std::byte*> tops_;
};

// Enters each coroutine once per pass. The jump is the only call in this function: a jump
// invalidates the processor's stack of return addresses, so that each later return is mispredicted,
// which more than doubles the cost of a ring of one.
template <bool tuned>
[[gnu::always_inline]] inline void take_steps(Coroutines& coroutines, std::size_t count,
                                              std::size_t pass_count, std::uint64_t& step_count) {
  fcontext_t* const contexts = coroutines.contexts.data();
  for (std::size_t pass = 0; pass < pass_count; ++pass) {
    for (std::size_t index = 0; index < count; ++index) {
      if constexpr (tuned) __builtin_prefetch(contexts[index + prefetch_lead]);
      contexts[index] = jump_fcontext(contexts[index], &step_count).fctx;
    }
  }
}

template <bool tuned>
Result<Measurement> yield(Ring ring) {
  LifoStacks stacks(
      {.stack_size_bytes = ring.stack_size_bytes, .tuned = tuned, .count_max = ring.count});
  Coroutines coroutines(ring.count);
  if (auto made = coroutines.make(stacks, ring.count, count_and_suspend_for_ever); !made) {
    return made.error();
  }
  coroutines.order(turn_order(ring.count, ring.random));

  std::uint64_t step_count = 0;
  std::uint64_t expected_step_count = 0;
  const auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) {
    const std::size_t pass_count = (op_count + ring.count - 1) / ring.count;
    watch.start();
    take_steps<tuned>(coroutines, ring.count, pass_count, step_count);
    watch.stop();
    expected_step_count += pass_count * ring.count;
    return pass_count * ring.count;
  });
  check(step_count == expected_step_count, "every step was taken");
  return measured;
}

// A ring without a loop: the suspending coroutine jumps into the next one. The measuring flow is
// the last member, and each of its steps is one pass.
struct DirectRing {
  fcontext_t* contexts;
  std::size_t last;
  std::size_t running;
  std::size_t left = 0;  // The member that suspended last; the running one stores its context.
  std::uint64_t step_count = 0;
};

// Suspends the running member until its next turn. The pointer to the ring comes with the transfer,
// in a register; a copy on the own stack would be in a colder cache.
[[gnu::always_inline]] inline DirectRing& hand_over(DirectRing& ring) {
  const std::size_t next = ring.running == ring.last ? 0 : ring.running + 1;
  __builtin_prefetch(ring.contexts[next + prefetch_lead]);
  ring.left = ring.running;
  ring.running = next;
  const transfer_t from = jump_fcontext(ring.contexts[next], &ring);
  auto& same_ring = *static_cast<DirectRing*>(from.data);
  same_ring.contexts[same_ring.left] = from.fctx;
  return same_ring;
}

void count_and_hand_over_for_ever(transfer_t from) {
  auto* ring = static_cast<DirectRing*>(from.data);
  ring->contexts[ring->left] = from.fctx;
  for (;;) {
    ++ring->step_count;
    ring = &hand_over(*ring);
  }
}

Result<Measurement> yield_direct(Ring options) {
  LifoStacks stacks(
      {.stack_size_bytes = options.stack_size_bytes, .tuned = true, .count_max = options.count});
  Coroutines coroutines(options.count);
  if (auto made = coroutines.make(stacks, options.count, count_and_hand_over_for_ever); !made) {
    return made.error();
  }
  coroutines.order(turn_order(options.count, options.random));
  coroutines.contexts.push_back(coroutines.contexts.front());  // Room for one more prefetch.
  DirectRing ring{
      .contexts = coroutines.contexts.data(), .last = options.count, .running = options.count};
  std::uint64_t expected_step_count = 0;
  const auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) {
    const std::size_t pass_count = (op_count + options.count) / (options.count + 1);
    watch.start();
    for (std::size_t pass = 0; pass < pass_count; ++pass) hand_over(ring);
    watch.stop();
    expected_step_count += pass_count * options.count;
    return pass_count * (options.count + 1);
  });
  check(ring.step_count == expected_step_count, "every step was taken");
  return measured;
}

// All coroutines are alive at once: they are created, each is entered once and ends, then all are
// recycled.
template <bool tuned>
Result<void> create_enter_recycle(Coroutines& coroutines, LifoStacks& stacks, std::size_t count) {
  if (auto made = coroutines.make(stacks, count, count_and_end); !made) return made.error();
  std::uint64_t step_count = 0;
  for (std::size_t index = 0; index < count; ++index) {
    if constexpr (tuned) __builtin_prefetch(coroutines.contexts[index + prefetch_lead]);
    jump_fcontext(coroutines.contexts[index], &step_count);
    stacks.release(coroutines.top(index));
  }
  check(step_count == count, "every coroutine was entered");
  return {};
}

template <bool tuned>
Result<Measurement> create_cold(std::size_t count) {
  Coroutines coroutines(count);
  return time_batches([&](Stopwatch& watch, std::size_t) -> Result<std::size_t> {
    LifoStacks stacks({.tuned = tuned, .count_max = count});
    watch.start();
    const auto created = create_enter_recycle<tuned>(coroutines, stacks, count);
    watch.stop();
    if (!created) return created.error();
    return count;
  });
}

template <bool tuned>
Result<Measurement> create_warm(std::size_t count) {
  Coroutines coroutines(count);
  LifoStacks stacks({.tuned = tuned, .count_max = count});
  return time_batches([&](Stopwatch& watch, std::size_t op_count) -> Result<std::size_t> {
    std::size_t performed_count = 0;
    watch.start();
    for (; performed_count < op_count; performed_count += count) {
      const auto created = create_enter_recycle<tuned>(coroutines, stacks, count);
      if (!created) return created.error();
    }
    watch.stop();
    return performed_count;
  });
}

template <bool tuned>
Result<Measurement> create(std::size_t count, Warmth warmth) {
  return warmth == Warmth::cold ? create_cold<tuned>(count) : create_warm<tuned>(count);
}

template <bool tuned>
Result<Measurement> memory(std::size_t count) {
  if (auto enough = need_free_memory(count, 5'000); !enough) return enough.error();
  const std::size_t bytes_before = resident_bytes();
  LifoStacks stacks({.tuned = tuned, .count_max = count});
  Coroutines coroutines(count);
  if (auto made = coroutines.make(stacks, count, count_and_suspend_for_ever); !made) {
    return made.error();
  }
  std::uint64_t step_count = 0;
  take_steps<tuned>(coroutines, count, 1, step_count);
  check(step_count == count, "every coroutine was entered");
  return bytes_each(bytes_before, count);
}

}  // namespace

constexpr Peer fcontext_peer = {
    .name = "fcontext", .yield = yield<false>, .create = create<false>, .memory = memory<false>};
constexpr Peer fcontext_tuned_peer = {
    .name = "fcontext_tuned", .yield = yield<true>, .create = create<true>, .memory = memory<true>};
constexpr Peer fcontext_direct_peer = {.name = "fcontext_direct", .yield = yield_direct};

}  // namespace corolane::bench
