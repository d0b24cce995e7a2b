// SPDX-License-Identifier: MIT
// Boost.Fiber as its manual suggests for speed: pooled stacks, the round-robin scheduler, one
// thread. The measuring thread is a fiber as well, and yields with the others.
#include <boost/fiber/buffered_channel.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/fiber/pooled_fixedsize_stack.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "tools/benchmarks/order.h"
#include "tools/benchmarks/peers/peer.h"
#include "tools/benchmarks/resident_memory.h"

namespace corolane::bench {
namespace {

using boost::fibers::fiber;
using boost::fibers::pooled_fixedsize_stack;
using IntChannel = boost::fibers::buffered_channel<int>;

// Boost's channels hold one value less than their capacity, which is a power of two.
constexpr std::size_t channel_capacity_for_one = 2;
constexpr std::size_t stack_size_bytes = 64 * 1024;
// Without a limit a pool doubles its chunks, and a million stacks request 64 GiB at once.
constexpr std::size_t stacks_per_chunk = 32;
constexpr std::size_t stacks_per_chunk_max = 1024;

pooled_fixedsize_stack make_pool(std::size_t size_bytes) {
  return pooled_fixedsize_stack(size_bytes, stacks_per_chunk, stacks_per_chunk_max);
}

void join_all(std::vector<fiber>& fibers) {
  for (fiber& each : fibers) each.join();
}

Result<Measurement> yield(Ring ring) {
  pooled_fixedsize_stack pool = make_pool(ring.stack_size_bytes);
  std::uint64_t step_count = 0;
  bool stopped = false;
  // Each fiber waits on its own channel, so that they enter the ready queue in the given order.
  const auto starts = std::make_unique<std::unique_ptr<IntChannel>[]>(ring.count);
  std::vector<fiber> fibers;
  for (std::size_t index = 0; index < ring.count; ++index) {
    starts[index] = std::make_unique<IntChannel>(channel_capacity_for_one);
    fibers.emplace_back(std::allocator_arg, pool, [&, &start = *starts[index]] {
      int unused = 0;
      start.pop(unused);
      while (!stopped) {
        ++step_count;
        boost::this_fiber::yield();
      }
    });
  }
  boost::this_fiber::yield();
  for (const std::size_t turn : turn_order(ring.count, ring.random)) starts[turn]->push(0);

  std::uint64_t pass_total = 0;
  auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) {
    const std::size_t ring_size = ring.count + 1;
    const std::size_t pass_count = (op_count + ring_size - 1) / ring_size;
    watch.start();
    for (std::size_t pass = 0; pass < pass_count; ++pass) boost::this_fiber::yield();
    watch.stop();
    pass_total += pass_count;
    return pass_count * ring_size;
  });
  check(step_count >= pass_total * ring.count, "every step was taken");
  stopped = true;
  join_all(fibers);
  return measured;
}

void create_and_join(pooled_fixedsize_stack& pool, std::vector<fiber>& fibers, std::size_t count) {
  std::uint64_t step_count = 0;
  fibers.clear();
  for (std::size_t index = 0; index < count; ++index) {
    fibers.emplace_back(std::allocator_arg, pool, [&] { ++step_count; });
  }
  join_all(fibers);
  check(step_count == count, "every fiber ran");
}

Result<Measurement> create(std::size_t count, Warmth warmth) {
  std::vector<fiber> fibers;
  fibers.reserve(count);
  pooled_fixedsize_stack warm_pool = make_pool(stack_size_bytes);
  return time_batches([&](Stopwatch& watch, std::size_t op_count) {
    if (warmth == Warmth::cold) {
      pooled_fixedsize_stack cold_pool = make_pool(stack_size_bytes);
      watch.start();
      create_and_join(cold_pool, fibers, count);
      watch.stop();
      boost::this_fiber::yield();  // Lets the scheduler release the last fiber, and so the pool.
      return count;
    }
    std::size_t performed_count = 0;
    watch.start();
    for (; performed_count < op_count; performed_count += count) {
      create_and_join(warm_pool, fibers, count);
    }
    watch.stop();
    return performed_count;
  });
}

Result<Measurement> memory(std::size_t count) {
  if (auto enough = need_free_memory(count, 10'000); !enough) return enough.error();
  const std::size_t bytes_before = resident_bytes();
  pooled_fixedsize_stack pool = make_pool(stack_size_bytes);
  IntChannel never(channel_capacity_for_one);
  std::vector<fiber> fibers;
  fibers.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    fibers.emplace_back(std::allocator_arg, pool, [&] {
      int unused = 0;
      never.pop(unused);
    });
  }
  boost::this_fiber::yield();
  const Measurement measured = bytes_each(bytes_before, count);
  never.close();
  join_all(fibers);
  return measured;
}

Result<Measurement> spawn_join() {
  pooled_fixedsize_stack pool = make_pool(stack_size_bytes);
  std::uint64_t step_count = 0;
  return time_batches([&](Stopwatch& watch, std::size_t op_count) {
    watch.start();
    for (std::size_t index = 0; index < op_count; ++index) {
      fiber(std::allocator_arg, pool, [&] { ++step_count; }).join();
    }
    watch.stop();
    return op_count;
  });
}

Result<Measurement> pingpong() {
  pooled_fixedsize_stack pool = make_pool(stack_size_bytes);
  IntChannel there(channel_capacity_for_one);
  IntChannel back(channel_capacity_for_one);
  fiber partner(std::allocator_arg, pool, [&] {
    int value = 0;
    while (there.pop(value) == boost::fibers::channel_op_status::success) back.push(value + 1);
  });
  int value = 0;
  auto measured = time_batches([&](Stopwatch& watch, std::size_t op_count) {
    watch.start();
    for (std::size_t index = 0; index < op_count; ++index) {
      there.push(value);
      back.pop(value);
    }
    watch.stop();
    return op_count;
  });
  there.close();
  partner.join();
  return measured;
}

}  // namespace

constexpr Peer boost_fiber_peer = {.name = "boost_fiber",
                                   .yield = yield,
                                   .create = create,
                                   .memory = memory,
                                   .spawn_join = spawn_join,
                                   .pingpong = pingpong};

}  // namespace corolane::bench
