// SPDX-License-Identifier: MIT
// Counts a thread's memory allocations: for samples of what a call costs.
//
//   const Allocations before = allocations();
//   serve(request);
//   const std::uint64_t count = allocations().count - before.count;
#pragma once

#include <cstdint>

namespace corolane {

struct Allocations {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

namespace detail {
inline constinit thread_local Allocations thread_allocations;
}

// The allocations of this thread since it began, by operator new; malloc() calls of C libraries are
// not counted. Zeros where operator new is not ours (counted_new.cc) but the program's own or a
// sanitizer's.
inline Allocations allocations() { return detail::thread_allocations; }

}  // namespace corolane
