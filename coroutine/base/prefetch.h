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

namespace corolane {

// Fetches the line of the cache that holds `place`, which may be any address.
inline void prefetch_for_write(const void* place) {
  __builtin_prefetch(place, /*rw=*/1);
  // GCC takes a function that does nothing but fetch for one without an effect, and drops its
  // calls.
  asm volatile("");
}

}  // namespace corolane
