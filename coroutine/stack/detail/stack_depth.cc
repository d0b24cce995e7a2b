// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/stack_depth.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/detail/stack_memory.h"
#include "coroutine/stack/detail/valgrind.h"

namespace corolane::coroutine::detail {
namespace {

// The page that holds `address`; `base` is page-aligned.
std::byte* page_of(std::byte* base, const std::byte* address) {
  const std::size_t page = system_page_size_bytes;
  return base + static_cast<std::size_t>(address - base) / page * page;
}

// The lowest existing page in the range, or `end`.
std::byte* lowest_page(std::byte* base, std::byte* end) {
  const std::size_t page = system_page_size_bytes;
  std::array<unsigned char, 64> exist;
  while (base < end) {
    const std::size_t count = std::min(static_cast<std::size_t>(end - base) / page, exist.size());
    if (mincore(base, count * page, exist.data()) != 0) return end;
    const auto* const found =
        std::find_if(exist.begin(), exist.begin() + count, [](auto bits) { return bits & 1; });
    base += static_cast<std::size_t>(found - exist.begin()) * page;
    if (found != exist.begin() + count) return base;
  }
  return end;
}

// Reads the remains of frames that have ended, which the address sanitizer would report. Valgrind
// forgets its permission for what lies below the frame of a function that returns; so none does
// between the permission and the reads.
[[gnu::noinline, gnu::no_sanitize_address]] const std::byte* lowest_word_not_zero(
    const std::byte* begin, const std::byte* end) {
  Valgrind::allow_read(begin, static_cast<std::size_t>(end - begin));
  constexpr std::size_t word_size = sizeof(std::uint64_t);
  while (begin < end && *reinterpret_cast<const volatile std::uint64_t*>(begin) == 0) {
    begin += word_size;
  }
  return begin;
}

}  // namespace

bool blank_stack(std::byte* base, std::byte* used) {
  std::byte* const top_page = page_of(base, used);
  const auto below = static_cast<std::size_t>(top_page - base);
  if (below > 0 && madvise(base, below, MADV_DONTNEED) != 0) return false;
  const auto rest = static_cast<std::size_t>(used - top_page);
#if defined(COROLANE_ASAN)
  // The previous task returned its stack before its last frames ended, and they left poison.
  __asan_unpoison_memory_region(top_page, rest);
#endif
  Valgrind::begin_use(top_page, rest);
  std::memset(top_page, 0, rest);
  return true;
}

const std::byte* lowest_use(std::byte* base, const std::byte* used) {
  std::byte* const page = lowest_page(base, page_of(base, used));
  const std::byte* const end = std::min<const std::byte*>(page + system_page_size_bytes, used);
  const std::byte* const lowest = lowest_word_not_zero(page, end);
  // A page of zeros was touched nevertheless, for example probed by a large frame.
  return lowest == end ? page : lowest;
}

bool take_use_of_page(std::byte* base, const std::byte* address) {
  std::byte* const page = page_of(base, address);
  unsigned char exists = 0;
  if (mincore(page, system_page_size_bytes, &exists) != 0 || (exists & 1) == 0) return false;
  const auto size = static_cast<std::size_t>(page - base) + system_page_size_bytes;
  return madvise(base, size, MADV_DONTNEED) == 0;
}

}  // namespace corolane::coroutine::detail
