// SPDX-License-Identifier: MIT
// The program's malloc replaces that of the C library for all linked code. It forwards to the names
// under which glibc exports the real functions.
#include "tools/benchmarks/allocation_count.h"

#include <cstddef>

namespace {

constinit std::uint64_t own_counter = 0;
constinit std::uint64_t* counter = &own_counter;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming, clang-diagnostic-reserved-identifier)
extern "C" {

void* __libc_malloc(std::size_t size_bytes) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size_bytes) noexcept;
void* __libc_realloc(void* memory, std::size_t size_bytes) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size_bytes) noexcept;

void* malloc(std::size_t size_bytes) noexcept {
  ++*counter;
  return __libc_malloc(size_bytes);
}

void* calloc(std::size_t count, std::size_t size_bytes) noexcept {
  ++*counter;
  return __libc_calloc(count, size_bytes);
}

void* realloc(void* memory, std::size_t size_bytes) noexcept {
  ++*counter;
  return __libc_realloc(memory, size_bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t size_bytes) noexcept {
  ++*counter;
  return __libc_memalign(alignment, size_bytes);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming, clang-diagnostic-reserved-identifier)

namespace corolane::bench {

std::uint64_t allocation_count_of_process() { return *counter; }

void count_allocations_in(std::uint64_t* shared_counter) {
  *shared_counter = *counter;
  counter = shared_counter;
}

}  // namespace corolane::bench
