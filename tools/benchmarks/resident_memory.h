// What a process holds of the machine's memory.
#pragma once

#include <cstddef>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// As /proc/self/statm has it. The kernel's page tables are not in it.
std::size_t resident_bytes();

// Bytes per suspended coroutine, from the resident memory before the first one was made and with
// all of them suspended.
Measurement bytes_each(std::size_t bytes_before, std::size_t count);

// Fails unless the machine has `bytes_each` free for each of `count`: the kernel would grant the
// memory first, and end the process later.
Result<void> need_free_memory(std::size_t count, std::size_t bytes_each);

}  // namespace corolane::bench
