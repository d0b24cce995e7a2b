// operator new as the C++ library has it, with two counters: malloc(), so the library's operator
// delete, which is free(), goes with it. All of the library's other forms but the aligned ones come
// through here. Alone in its object file: a program that has its own takes that instead.
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
