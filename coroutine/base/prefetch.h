// SPDX-License-Identifier: MIT
// Asks for memory before it is needed, so that other work runs while it comes.
//
//   for (std::size_t i = 0; i < orders.size(); ++i) {
//     if (i + 8 < orders.size()) prefetch_for_write(orders[i + 8]);
//     serve(*orders[i]);
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
