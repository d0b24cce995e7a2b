// How often a thread has asked for memory: for samples of what a call costs.
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

// Of this thread since it began, by operator new: what libraries in C ask malloc() for is not among
// them. Zeros where operator new is another one than ours (counted_new.cc): the program's own, or
// a sanitizer's.
inline Allocations allocations() { return detail::thread_allocations; }

}  // namespace corolane
