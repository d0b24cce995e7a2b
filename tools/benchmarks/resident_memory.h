// SPDX-License-Identifier: MIT
// The resident memory of a process.
#pragma once

#include <cstddef>
#include <string>

#include "coroutine/base/result.h"
#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

// Returns the value of /proc/PROCESS/statm, which excludes the kernel's page tables.
std::size_t resident_bytes_of(const std::string& process);
inline std::size_t resident_bytes() { return resident_bytes_of("self"); }

// Returns bytes per suspended coroutine. `bytes_before` is the resident memory before the first one
// was created; all are suspended now.
Measurement bytes_each(std::size_t bytes_before, std::size_t count);

// Fails unless the machine has `bytes_each` free for each of `count`: otherwise the kernel would
// grant the memory first, and kill the process later.
Result<void> need_free_memory(std::size_t count, std::size_t bytes_each);

}  // namespace corolane::bench
