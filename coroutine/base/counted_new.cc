// SPDX-License-Identifier: MIT
// The C++ library's operator new with two counters. It calls malloc(), so it matches the library's
// operator delete, which calls free(). All other forms of the library call this one, except the
// aligned ones. It is alone in its object file: a program's own operator new replaces it.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "coroutine/base/allocations.h"

void* operator new(std::size_t size_bytes) {
  corolane::Allocations& sum = corolane::detail::thread_allocations;
  ++sum.count;
  sum.bytes += size_bytes;
  for (;;) {
    if (void* const place = std::malloc(std::max<std::size_t>(size_bytes, 1))) return place;
    const std::new_handler make_room = std::get_new_handler();
    if (make_room == nullptr) throw std::bad_alloc();
    make_room();
  }
}
