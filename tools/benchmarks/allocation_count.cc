// SPDX-License-Identifier: MIT
// The program's malloc replaces that of the C library for all linked code. It forwards to the names
// under which glibc exports the real functions.
#include "tools/benchmarks/allocation_count.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace {

// Each thread counts in a cache line of its own: a counter that threads share would cost more than
// the allocations do. More threads than counters share some, which may then lose counts.
struct alignas(64) Counter {
  std::uint64_t count = 0;
};
constinit std::array<Counter, 64> counters;
constinit std::atomic<std::size_t> thread_count = 0;
constinit thread_local std::uint64_t* counter = nullptr;

[[gnu::cold, gnu::noinline]] void take_counter() {
  counter = &counters.at(thread_count++ % counters.size()).count;
}

inline void count_one() {
  if (counter == nullptr) [[unlikely]]
    take_counter();
  std::atomic_ref count(*counter);
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming, clang-diagnostic-reserved-identifier)
extern "C" {

void* __libc_malloc(std::size_t size_bytes) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size_bytes) noexcept;
void* __libc_realloc(void* memory, std::size_t size_bytes) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size_bytes) noexcept;

void* malloc(std::size_t size_bytes) noexcept {
  count_one();
  return __libc_malloc(size_bytes);
}

void* calloc(std::size_t count, std::size_t size_bytes) noexcept {
  count_one();
  return __libc_calloc(count, size_bytes);
}

void* realloc(void* memory, std::size_t size_bytes) noexcept {
  count_one();
  return __libc_realloc(memory, size_bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t size_bytes) noexcept {
  count_one();
  return __libc_memalign(alignment, size_bytes);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming, clang-diagnostic-reserved-identifier)

namespace corolane::bench {

std::uint64_t allocation_count_of_process() {
  std::uint64_t sum = 0;
  for (Counter& each : counters) {
    sum += std::atomic_ref(each.count).load(std::memory_order_relaxed);
  }
  return sum;
}

void count_allocations_in(std::uint64_t* shared_counter) {
  *shared_counter = allocation_count_of_process();
  counter = shared_counter;
}

}  // namespace corolane::bench
