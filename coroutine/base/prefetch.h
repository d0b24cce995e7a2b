// SPDX-License-Identifier: MIT
// Asks for memory before it is needed, so that other work runs while it comes.
//
//   std::vector<Request*> requests;
//   ...
//   for (std::size_t i = 0; i < requests.size(); ++i) {
//     if (i + 8 < requests.size()) prefetch_for_write(requests[i + 8]);
//     serve(*requests[i]);
//   }
#pragma once

#include <cstddef>

namespace corolane {

// Fetches the line of the cache that holds `place`, which may be any address.
inline void prefetch_for_write(const void* place) {
  __builtin_prefetch(place, /*rw=*/1);
  // GCC takes a function that does nothing but fetch for one without an effect, and drops its
  // calls.
  asm volatile("");
}
// Fetches all lines of an object of that size.
inline void prefetch_for_write(const void* object, std::size_t size) {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t offset = 0; offset < size; offset += line_bytes) {
    prefetch_for_write(static_cast<const std::byte*>(object) + offset);
  }
}

}  // namespace corolane
