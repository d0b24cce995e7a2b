#include "coroutine/stack_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "coroutine/base/check.h"
#include "coroutine/detail/sanitizer.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(begin, end) 0
#endif

namespace corolane::coroutine {
namespace {

// One mapping serves this many stacks: few system calls, few mappings, small waste.
constexpr std::size_t stacks_per_slab = 64;
// 32 steps of a cache line each: 2 KiB at the most, so that the hot part of a stack still fits
// into its top page.
constexpr std::uint32_t colour_count = 32;
constexpr std::size_t cache_line_bytes = 64;
// Room for the shift above each stack, so that it still has its full size: a page, since the
// guards are made of pages.
constexpr std::size_t colour_room_bytes = 4096;
// <sys/mman.h> of this age does not name it (Linux 6.13, include/uapi/asm-generic/mman-common.h).
constexpr int madvise_guard_install = 102;

std::size_t mapping_count_max() {
  std::ifstream file("/proc/sys/vm/max_map_count");
  std::size_t count = 0;
  return file >> count ? count : 65'530;
}

bool kernel_has_guard_install() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool works = madvise(page, 4096, madvise_guard_install) == 0;
  munmap(page, 4096);
  return works;
}

}  // namespace

StackPool::StackPool(Options options) {
  statistics_.guard = options.guard;
  if (options.guard == Guard::automatic) {
    statistics_.guard = kernel_has_guard_install() ? Guard::madvise : Guard::mprotect;
  }
  statistics_.count_max = options.stack_count_max;
  if (statistics_.guard == Guard::mprotect) {
    // Two mappings per stack; an eighth is left to the rest of the process.
    statistics_.count_max = std::min(statistics_.count_max, mapping_count_max() / 2 / 8 * 7);
  }
}

StackPool::~StackPool() {
  check(statistics_.in_use_count == 0, "every stack was returned before its pool ends");
  for (const Slab& slab : slabs_) munmap(slab.begin, slab.size_bytes);
}

std::size_t StackPool::slot_size_of(std::size_t size_class) {
  return guard_size_bytes + (stack_size_bytes_min << size_class) + colour_room_bytes;
}

Result<Stack> StackPool::acquire(std::size_t size_bytes) {
  if (size_bytes > stack_size_bytes_max) {
    return Error(Code::invalid_argument, "a stack of " + std::to_string(size_bytes) +
                                             " bytes is above the largest size, " +
                                             std::to_string(stack_size_bytes_max));
  }
  const std::size_t rounded = std::bit_ceil(std::max(size_bytes, stack_size_bytes_min));
  const auto size_class =
      static_cast<std::size_t>(std::countr_zero(rounded / stack_size_bytes_min));
  SizeClass& stacks = classes_[size_class];
  Stack stack;
  if (!stacks.idle.empty()) [[likely]] {
    stack = stacks.idle.back();
    stacks.idle.pop_back();
    --statistics_.idle_count;
    ++statistics_.hit_count;
  } else {
    auto fresh = cut(size_class);
    if (!fresh) {
      ++statistics_.refused_count;
      return fresh;
    }
    stack = *fresh;
    ++statistics_.miss_count;
  }
  statistics_.in_use_count_peak =
      std::max(statistics_.in_use_count_peak, ++statistics_.in_use_count);
  return stack;
}

void StackPool::release(const Stack& stack) {
#if defined(COROLANE_ASAN)
  // Frames that never returned left their redzones marked.
  __asan_unpoison_memory_region(stack.base, static_cast<std::size_t>(stack.top - stack.base));
#endif
  classes_[stack.size_class].idle.push_back(stack);
  --statistics_.in_use_count;
  ++statistics_.idle_count;
}

StackPool::Statistics StackPool::statistics() const { return statistics_; }

Result<Stack> StackPool::cut(std::size_t size_class) {
  if (statistics_.in_use_count + statistics_.idle_count >= statistics_.count_max) {
    return Error(Code::resource_exhausted, "the pool has all " +
                                               std::to_string(statistics_.count_max) +
                                               " coroutine stacks it may have");
  }
  SizeClass& stacks = classes_[size_class];
  if (stacks.uncut_count == 0) {
    if (auto mapped = map_slab(size_class); !mapped) return mapped.error();
  }
  std::byte* const guard = stacks.uncut;
  if (!install_guard(guard)) {
    return Error(Code::resource_exhausted,
                 std::string("the kernel refuses a guard for a coroutine stack: ") +
                     std::strerror(errno) + "; raise vm.max_map_count or lower stack_count_max");
  }
  stacks.uncut += slot_size_of(size_class);
  --stacks.uncut_count;
  const std::size_t shift = stacks.colour++ % colour_count * cache_line_bytes;
  const Stack stack = {.base = guard + guard_size_bytes,
                       .top = stacks.uncut - shift,
                       .size_class = static_cast<std::uint8_t>(size_class)};
  static_cast<void>(VALGRIND_STACK_REGISTER(stack.base, stack.top));
  return stack;
}

Result<void> StackPool::map_slab(std::size_t size_class) {
  const std::size_t size_bytes = slot_size_of(size_class) * stacks_per_slab;
  void* memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return Error(
        Code::resource_exhausted,
        std::string("the kernel refuses memory for coroutine stacks: ") + std::strerror(errno));
  }
  // A huge page would make one touched page of a stack cost 2 MiB.
  madvise(memory, size_bytes, MADV_NOHUGEPAGE);
  SizeClass& stacks = classes_[size_class];
  stacks.uncut = static_cast<std::byte*>(memory);
  stacks.uncut_count = stacks_per_slab;
  slabs_.push_back({.begin = stacks.uncut, .size_bytes = size_bytes});
  statistics_.mapped_bytes += size_bytes;
  // So that release() never allocates.
  stacks.idle.reserve(stacks.idle.capacity() + stacks_per_slab);
  return {};
}

bool StackPool::install_guard(std::byte* begin) const {
  if (statistics_.guard == Guard::madvise) {
    return madvise(begin, guard_size_bytes, madvise_guard_install) == 0;
  }
  return mprotect(begin, guard_size_bytes, PROT_NONE) == 0;
}

}  // namespace corolane::coroutine
