// SPDX-License-Identifier: MIT
// Counts the allocations of the whole process by replacing malloc, which operator new calls.
#pragma once

#include <cstdint>

namespace corolane::bench {

// Calls of malloc, calloc, realloc and aligned_alloc so far, in all threads.
std::uint64_t allocation_count_of_process();

// Continues the calling thread's count in `counter`, which may lie in memory that another process
// sees.
void count_allocations_in(std::uint64_t* counter);

}  // namespace corolane::bench
