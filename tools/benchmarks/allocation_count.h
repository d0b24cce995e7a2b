// Counts the allocations of the whole process by standing before malloc: operator new ends there.
#pragma once

#include <cstdint>

namespace corolane::bench {

// Calls of malloc, calloc, realloc and aligned_alloc so far. Single-threaded programs only.
std::uint64_t allocation_count_of_process();

// Counts on in `counter` from now on, which may lie where another process sees it.
void count_allocations_in(std::uint64_t* counter);

}  // namespace corolane::bench
